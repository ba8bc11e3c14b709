"""Captions while the video is walked: one failure is recorded, a refusal ends all."""

from __future__ import annotations

import asyncio

import pytest

from admir.backends.base import Caption
from admir.errors import EndpointError, ModelError
from admir.memory.caption_stage import Captioning, with_captions
from admir.memory.clip_stream import WholeClip
from admir.memory.journal import Journal
from admir.types import Clip, Span


class Describes:
    """Names the clip, or fails as told for its index."""

    looks, caption_side, id = True, 640, "describes"

    def __init__(self, **faults) -> None:
        self._faults = {int(name[1:]): error for name, error in faults.items()}
        self.asked = []

    async def caption(self, view):
        self.asked.append(view.clip.index)
        await asyncio.sleep(0)
        if (error := self._faults.get(view.clip.index)) is not None:
            raise error
        return Caption(description=f"clip {view.clip.index}")


def clip(index: int) -> WholeClip:
    return WholeClip(index=index, span=Span(start_s=5.0 * index, end_s=5.0 * index + 5), samples=())


def captioning(tmp_path, perceiver, stops) -> Captioning:
    journal = Journal(tmp_path / "journal.jsonl")
    return Captioning(
        video_id="ad",
        perceiver=perceiver,
        utterances=(),
        speech_known=True,
        reading=None,
        workers=1,
        smaller=1,
        folder=tmp_path,
        journal=journal,
        tell=lambda done: None,
        give_up=lambda: stops.append(True),
        keep=journal.put,
    )


def run(tmp_path, perceiver, stops, count=3):
    async def all_of_it():
        work = captioning(tmp_path, perceiver, stops)
        for index in range(count):
            work.begin(clip(index))
            await asyncio.sleep(0.05)
        return await work.results()

    return asyncio.run(all_of_it())


def test_captions_come_in_the_order_of_clips_whenever_they_end(tmp_path):
    done = run(tmp_path, Describes(), [])
    assert [c.description for c in done.captions] == ["clip 0", "clip 1", "clip 2"]
    assert done.failed == {}


def test_a_clip_that_fails_is_recorded_and_tried_again_alone(tmp_path):
    stops = []
    done = run(tmp_path, Describes(_1=ModelError("it is silent")), stops)
    assert (done.failed, stops) == ({1: "it is silent"}, [])
    clips = [Clip(video_id="ad", index=n, span=clip(n).span) for n in range(3)]
    told = with_captions(clips, done)
    assert [c.caption for c in told] == ["clip 0", "", "clip 2"]
    assert [c.caption_error for c in told] == ["", "it is silent", ""]
    again = Describes()
    assert run(tmp_path, again, []).failed == {}
    assert again.asked == [1]


def test_no_caption_at_all_is_an_error(tmp_path):
    faults = {f"_{n}": ModelError("it is silent") for n in range(3)}
    with pytest.raises(ModelError, match="no clip could be described: it is silent"):
        run(tmp_path, Describes(**faults), [])


def test_a_refusal_stops_the_walk_and_asks_for_no_further_clip(tmp_path):
    stops, perceiver = [], Describes(_0=EndpointError("wrong key"))
    with pytest.raises(EndpointError, match="wrong key"):
        run(tmp_path, perceiver, stops)
    assert (stops, perceiver.asked) == ([True], [0])
