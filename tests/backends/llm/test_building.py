"""Builds over a server that fails: what is kept, what is told, what the next build mends."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from admir import build_memory, open_memory
from admir.api import build_events
from admir.demo import AD
from admir.errors import EndpointError, ModelError
from admir.settings import load_settings
from admir.trace import BuildProgress, Built
from tests.model_fixtures import options_for
from tests.model_replies import Say, clip_start_s
from tests.model_server import DROP, HANG, Http, ModelServer, Raw

CLIPS = 4
SECOND_CLIP_S = 5.0


@pytest.fixture
def uncached(options):
    """Without a cache of replies: what is not asked again is known from the build itself."""
    return {**options, "cache": False}


def captions_of(server):
    """How often each clip was shown, by its start."""
    return Counter(clip_start_s(asked) for asked in server.asked("caption"))


def only_second(reply):
    return lambda asked: reply if clip_start_s(asked) == SECOND_CLIP_S else None


def test_a_build_asks_for_each_clip_once_with_its_frames(ramp, server, uncached):
    memory = build_memory(ramp, **uncached)
    assert captions_of(server) == {0.0: 1, 5.0: 1, 10.0: 1, 15.0: 1}
    assert Counter(asked.role for asked in server.requests) == {
        "caption": CLIPS,
        "merge": 1,
        "narrate": 1,
    }
    assert [clip.caption for clip in memory.clips] == [
        f"A grey wall, clip from {start} s." for start in (0, 5, 10, 15)
    ]
    assert memory.provenance.failed == ()
    assert all(1 <= len(asked.images) <= 5 for asked in server.asked("caption"))


@pytest.mark.parametrize("preset", ["paper", "local"])
def test_both_presets_build_and_name_their_models(ramp, server, uncached, preset):
    memory = build_memory(ramp, **{**uncached, "preset": preset})
    assert memory.provenance.preset == preset
    used = {asked.body["model"] for asked in server.requests}
    assert used == ({"gpt-4o"} if preset == "paper" else {"tiny-vl"})


PASSING = {
    "429": Http(429, headers={"Retry-After": "0.05"}),
    "500": Http(500),
    "dropped": DROP,
    "no JSON": Raw("<html>busy</html>", type="text/html"),
    "cut": '{"description": "A wall", "subjects": [{"name": "bot',
    "length": Say(content='{"description": "A', finish="length"),
    "missing": '{"description": "A wall"}',
    "wrong type": '{"description": "A wall", "subjects": "none"}',
    "unknown kind": json.dumps(
        {
            "description": "A wall",
            "subjects": [
                {
                    "name": "a",
                    "kind": "animal",
                    "appearance": [],
                    "identity": [],
                    "first_seen_s": 0,
                }
            ],
        }
    ),
    "empty": "",
    "refusal": Say(refusal="I do not look at walls"),
}


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_leaves_no_mark(ramp, server, uncached, fault):
    server.script["caption"] = [PASSING[fault], PASSING[fault]]
    memory = build_memory(ramp, **uncached)
    assert all(clip.caption for clip in memory.clips)
    assert memory.provenance.failed == ()
    assert len(server.asked("caption")) == CLIPS + 2


FINAL = {
    "malformed": ("no JSON", 3, "no whole JSON"),
    "refusal": (Say(refusal="I do not look at walls"), 3, "I do not look at walls"),
    "refused": (Http(400, "the picture offends"), 1, "the picture offends"),
    "down": (Http(500, "broken"), 9, "broken"),
}


@pytest.mark.parametrize("fault", FINAL)
def test_a_clip_that_fails_is_recorded_and_healed_alone(ramp, server, uncached, fault):
    reply, attempts, told = FINAL[fault]
    server.script["caption"] = only_second(reply)
    memory = build_memory(ramp, **uncached)
    assert captions_of(server) == {0.0: 1, 5.0: attempts, 10.0: 1, 15.0: 1}
    assert [bool(clip.caption) for clip in memory.clips] == [True, False, True, True]
    assert told in memory.clips[1].caption_error
    assert [bool(clip.caption_error) for clip in memory.clips] == [False, True, False, False]
    assert len(memory.provenance.failed) == 1
    assert "5.0-10.0 s" in memory.provenance.failed[0]
    assert told in str(memory.provenance.warnings)
    assert open_memory("ramp", memories=uncached["memories"]) == memory

    server.requests.clear()
    server.script["caption"] = None
    healed = build_memory(ramp, **uncached)
    assert captions_of(server) == {5.0: 1}
    assert healed.provenance.failed == ()
    assert all(clip.caption and not clip.caption_error for clip in healed.clips)
    assert healed.provenance.usage.calls > memory.provenance.usage.calls, "both runs are paid for"

    server.requests.clear()
    assert build_memory(ramp, **uncached) == healed
    assert server.requests == []


def test_a_clip_that_fails_again_is_tried_again(ramp, server, uncached):
    server.script["caption"] = only_second(Http(400, "no"))
    build_memory(ramp, **uncached)
    build_memory(ramp, **uncached)
    assert captions_of(server) == {0.0: 1, 5.0: 2, 10.0: 1, 15.0: 1}


def test_a_memory_with_a_failed_clip_can_be_asked(ramp, server, uncached):
    from admir import ask

    server.script["caption"] = only_second(Http(400, "no"))
    build_memory(ramp, **uncached)
    answer = ask("ramp", "What is seen?", **uncached)
    assert answer.grounded


def test_all_captions_failing_is_one_clear_error(ramp, server, uncached):
    server.script["caption"] = lambda asked: Http(400, "pictures are not taken here")
    with pytest.raises(ModelError, match=r"no clip could be described: .*pictures are not taken"):
        build_memory(ramp, **uncached)
    assert not list(Path(uncached["memories"]).glob("*/current"))
    server.script["caption"] = None
    assert build_memory(ramp, **uncached).provenance.failed == ()


@pytest.mark.parametrize("status", [401, 404])
def test_a_refused_key_ends_the_build(ramp, server, uncached, status):
    server.script["caption"] = [None, Http(status, "who are you?")]
    server.script["*"] = lambda asked: Http(status, "who are you?")
    with pytest.raises(EndpointError, match="who are you"):
        build_memory(ramp, **uncached)
    assert captions_of(server) <= Counter({0.0: 1, 5.0: 1, 10.0: 1, 15.0: 1})


def test_a_merge_that_fails_loses_nobody_and_is_tried_again(ramp, server, uncached):
    server.script["merge"] = lambda asked: "no JSON"
    memory = build_memory(ramp, **uncached)
    assert len(memory.subjects) == CLIPS
    assert [s.first_seen_s for s in memory.subjects] == [0.0, 5.0, 10.0, 15.0]
    assert "no usable reply as merge" in memory.provenance.failed[0]
    assert "no usable reply as merge" in str(memory.provenance.warnings)

    server.requests.clear()
    server.script["merge"] = lambda asked: {
        "groups": [{"name": "grey bottle", "ids": ["p1", "p2", "p3", "p4"]}]
    }
    healed = build_memory(ramp, **uncached)
    assert captions_of(server) == {}
    assert len(healed.subjects) == 1
    assert len(healed.subjects[0].appearance) == CLIPS
    assert healed.provenance.failed == ()


def test_a_story_that_fails_leaves_a_memory_with_a_warning(ramp, server, uncached):
    server.script["narrate"] = lambda asked: Http(400, "too long")
    memory = build_memory(ramp, **uncached)
    assert memory.narrative.summary == ""
    assert "too long" in str(memory.provenance.warnings)
    assert len(memory.provenance.failed) == 1
    server.requests.clear()
    server.script["narrate"] = None
    healed = build_memory(ramp, **uncached)
    assert [asked.role for asked in server.requests] == ["narrate"]
    assert healed.narrative.summary == "A grey wall grows bright."
    assert healed.provenance.warnings == memory.provenance.warnings[:-1]


def test_times_outside_of_a_clip_are_put_right(ramp, server, uncached):
    def late(asked):
        subject = {"name": "car", "kind": "object", "appearance": [], "identity": []}
        return {"description": "A car.", "subjects": [{**subject, "first_seen_s": 1e6}]}

    server.script["caption"] = late
    server.script["narrate"] = lambda asked: {
        "summary": "A car.",
        "genre": "",
        "entities": [],
        "explicit_text": [],
        "mismatches": [],
        "arc": [{"stage": "offer", "start_s": 900, "end_s": -5, "quote": "x"}],
    }
    memory = build_memory(ramp, **uncached)
    assert all(0 <= s.first_seen_s <= memory.video.duration_s for s in memory.subjects)
    assert all(0 <= i.span.start_s <= i.span.end_s <= 17.0 for i in memory.narrative.inferences)
    assert open_memory("ramp", memories=uncached["memories"]) == memory


def test_texts_that_no_file_takes_are_stored_all_the_same(ramp, server, uncached):
    server.script["caption"] = lambda asked: (
        '{"description": "wall \\ud83d\\u0000", "subjects": []}'
    )
    memory = build_memory(ramp, **uncached)
    assert open_memory("ramp", memories=uncached["memories"]) == memory


async def stopped_after(settings, video, captions):
    """Cancel the build when so many clips are described."""
    events = build_events(video, settings)
    async for event in events:
        assert not isinstance(event, Built)
        if isinstance(event, BuildProgress) and event.stage == "caption" and event.done >= captions:
            break
    await events.aclose()


def test_a_cancelled_build_goes_on_without_paying_again(ramp, server, uncached):
    server.script["caption"] = lambda asked: HANG if clip_start_s(asked) >= 10 else None
    settings = load_settings(**{**uncached, "timeout_s": 30.0})
    asyncio.run(stopped_after(settings, ramp, 2))
    assert captions_of(server)[0.0] == captions_of(server)[5.0] == 1
    server.requests.clear()
    server.script["caption"] = None
    memory = build_memory(ramp, **uncached)
    assert captions_of(server) == {10.0: 1, 15.0: 1}
    assert all(clip.caption for clip in memory.clips)
    assert memory.provenance.usage.calls == CLIPS + 2, "what the first run paid is counted"


def test_clips_are_described_side_by_side_within_the_limit(ramp, uncached, tmp_path):
    with ModelServer(delay_s=0.1) as slow:
        options = {**options_for(slow, tmp_path), "cache": False, "concurrency": 2}
        build_memory(ramp, **options)
        assert slow.most_in_flight == 2


@pytest.mark.parametrize("refused", [{"json_schema", "json_object"}, {"temperature", "max_tokens"}])
def test_a_picky_server_builds_a_whole_memory(ramp, server, uncached, refused):
    server.refuses = refused
    memory = build_memory(ramp, **uncached)
    assert memory.provenance.failed == ()
    assert all(clip.caption for clip in memory.clips)


def test_a_chatty_server_builds_a_whole_memory(ramp, server, uncached):
    from tests.model_replies import default_reply

    server.script["*"] = lambda asked: f"Sure!\n{json.dumps(default_reply(asked))}\nAnything else?"
    memory = build_memory(ramp, **uncached)
    assert memory.provenance.failed == ()
    assert len(server.requests) == CLIPS + 2


def test_a_killed_build_goes_on_without_paying_again(ramp, server, uncached):
    server.script["caption"] = lambda asked: HANG if clip_start_s(asked) >= 10 else None
    journaled = Path(uncached["memories"]) / "ramp" / "builds"
    with build_elsewhere(ramp, uncached) as process:
        wait_until(lambda: described(journaled) >= {0, 1} or process.poll() is not None)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    server.requests.clear()
    server.script["caption"] = None
    memory = build_memory(ramp, **uncached)
    assert captions_of(server) == {10.0: 1, 15.0: 1}
    assert memory.provenance.usage.calls == CLIPS + 2, "what the killed run paid is counted"


def build_elsewhere(video, options):
    """The same build in a process of its own."""
    plain = {key: str(o) if isinstance(o, Path) else o for key, o in options.items()}
    script = f"from admir import build_memory; build_memory({str(video)!r}, **{plain!r})"
    return subprocess.Popen([sys.executable, "-c", script])


def described(builds):
    """The clips whose captions a build has journaled."""
    text = "".join(path.read_text() for path in builds.glob("partial-*/journal.jsonl"))
    return {int(number) for number in re.findall(r'^\["caption:(\d+)"', text, re.MULTILINE)}


def wait_until(done, seconds=20):
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.02)


def test_shots_frames_and_text_have_the_times_of_the_offline_preset(server, uncached, tmp_path):
    """One way of decoding for all presets: nothing is seen less exactly for being quicker."""
    options = {**uncached, "screen_text": "auto", "memories": tmp_path / "models"}
    theirs = build_memory(AD, **options)
    ours = build_memory(AD, preset="offline", memories=tmp_path / "offline")
    assert theirs.shots == ours.shots
    [told] = server.asked("narrate")
    assert "0.0-4.2 s: STILL WORKING IN THE DARK?" in told.text, "written lines with their times"
    assert [f.time_s for f in theirs.frames] == [f.time_s for f in ours.frames]
    assert [(x.text, x.span) for x in theirs.screen_text] == [
        (x.text, x.span) for x in ours.screen_text
    ]


def test_the_captioner_hears_whether_speech_is_unknown_or_none(ramp, server, uncached, tmp_path):
    build_memory(ramp, **uncached)
    assert all("Speech: unknown" in asked.text for asked in server.asked("caption"))
    server.requests.clear()
    subtitles = tmp_path / "words.srt"
    subtitles.write_text("1\n00:00:01,000 --> 00:00:03,000\nA wall.\n")
    build_memory(ramp, **{**uncached, "speech": str(subtitles)})
    first, *others = sorted(server.asked("caption"), key=clip_start_s)
    assert "said: A wall." in first.text
    assert all("Speech: nothing is said in this clip." in asked.text for asked in others)
