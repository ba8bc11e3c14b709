"""What is said of a build before it is made, beside what it then costs."""

from __future__ import annotations

from collections import Counter

import pytest

from admir import build_memory
from admir.api import estimate
from admir.backends.llm.content import image_tokens
from admir.backends.llm.estimate import estimate_build
from admir.backends.llm.perceiver import CAPTION_SIDE
from admir.demo import AD
from admir.errors import EndpointError, OptionError, VideoNotFound, VideoUnreadable
from admir.perception.decode import decode
from tests.drawing import flat, write_video
from tests.perception.videos import encode

SIZE = {"width": 1280, "height": 720}


@pytest.mark.parametrize("own", [False, True])
def test_calls_and_pictures_are_those_of_the_build(ramp, server, options, settings, own):
    video = ramp if own else AD
    said = estimate(video, settings())
    build_memory(video, **options)
    counted = Counter(asked.role for asked in server.requests)
    assert {role: part.calls for role, part in said.parts.items() if part.calls} == counted
    sent = [picture for asked in server.asked("caption") for picture in asked.images]
    assert len(sent) <= said.parts["caption"].images <= 1.3 * len(sent) + 3
    assert said.total.calls == len(server.requests)


@pytest.mark.parametrize("size", [(160, 120), (640, 360), (720, 1280), (1280, 720)])
def test_tokens_of_pictures_are_near_those_of_the_pictures_sent(
    tmp_path, server, options, settings, size
):
    video = write_video(tmp_path / "v.mp4", lambda n: flat((n, 9, 9), size), frames=60, size=size)
    said = estimate(video, settings()).parts["caption"]
    build_memory(video, **options)
    sent = [p for asked in server.asked("caption") for p in asked.images]
    assert all(max(picture.shape[:2]) <= CAPTION_SIDE for picture in sent)
    tokens = sum(image_tokens(picture.shape[1], picture.shape[0]) for picture in sent)
    text = sum(len(asked.text) + len(asked.system) for asked in server.asked("caption")) / 4
    assert (tokens + text) / 2 < said.input_tokens < (tokens + text) * 2
    assert said.images * tokens / len(sent) < said.input_tokens


def test_the_price_is_that_of_the_tokens_by_role(settings):
    prices = {"seer": {"input": 2.0, "output": 8.0}, "teller": {"input": 1.0, "output": 1.0}}
    chosen = settings(model="seer", roles={"narrate": {"model": "teller"}}, prices=prices)
    said = estimate_build(chosen, duration_s=30.0, **SIZE)
    rates = {role: prices[model] for role, model in said.models.items()}
    assert said.models == {**dict.fromkeys(said.parts, "seer"), "narrate": "teller"}
    assert said.total.cost_usd == pytest.approx(
        sum(
            part.input_tokens * rates[role]["input"] + part.output_tokens * rates[role]["output"]
            for role, part in said.parts.items()
        )
        / 1e6
    )
    assert said.total.unpriced == 0
    assert said.total.input_tokens == sum(part.input_tokens for part in said.parts.values())


def test_calls_without_a_known_price_are_counted(settings):
    chosen = settings(model="my-own", base_url="https://models.invalid/v1")
    said = estimate_build(chosen, duration_s=30.0, **SIZE)
    assert said.total.cost_usd == 0
    assert said.total.unpriced == said.total.calls > 0


def test_a_longer_video_and_shorter_clips_cost_more(settings):
    def calls(duration_s, **more):
        return estimate_build(settings(**more), duration_s=duration_s, **SIZE).total

    assert calls(30.0).cost_usd < calls(60.0).cost_usd < calls(600.0).cost_usd
    assert calls(30.0).calls < calls(30.0, clip_s=2.0).calls


def test_text_that_is_not_read_is_not_paid(settings):
    chosen = {"duration_s": 60.0, **SIZE}
    read = estimate_build(settings(screen_text="auto"), **chosen).parts["read_text"]
    left = estimate_build(settings(screen_text="none"), **chosen).parts["read_text"]
    assert read.calls > 0
    assert (left.calls, left.input_tokens, left.images) == (0, 0, 0)


def test_no_call_is_made_for_it(server, settings):
    estimate(AD, settings())
    assert server.requests == []


def test_what_cannot_be_estimated_is_an_error(tmp_path, settings):
    with pytest.raises(OptionError, match="costs nothing"):
        estimate(AD, settings(preset="offline"))
    with pytest.raises(VideoNotFound):
        estimate(tmp_path / "none.mp4", settings())
    (tmp_path / "no.mp4").write_bytes(b"no video")
    with pytest.raises(VideoUnreadable):
        estimate(tmp_path / "no.mp4", settings())
    with pytest.raises(EndpointError, match="needs a key"):
        estimate(AD, settings(base_url=None, api_key=None))


@pytest.mark.parametrize("name", ["live.mkv", "raw.h264"])
def test_a_file_that_does_not_state_its_length_is_estimated_by_its_packets(
    tmp_path, settings, name
):
    pictures = [flat((n, n, n), (64, 48)) for n in range(170)]
    live = {"live": "1"} if name.endswith("mkv") else {}
    path = encode(tmp_path / name, pictures, fps=10, muxing=live)
    found = decode(path, lambda _: None, lambda _: None).duration_s
    said = estimate_build(settings(), duration_s=found, width=64, height=48)
    assert estimate(path, settings()) == said
    assert said.parts["caption"].calls > 1
