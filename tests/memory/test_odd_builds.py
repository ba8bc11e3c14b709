"""Whole builds, with the real reader, of videos of unusual make."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from admir import build_memory
from tests.conftest import flat
from tests.perception.test_odd_videos import INTERLACED, woven
from tests.perception.videos import encode, turned

SIZE = (320, 180)


def card(words):
    """Words in white on green."""
    picture = flat((60, 90, 40), SIZE)
    cv2.putText(picture, words, (20, 100), cv2.FONT_HERSHEY_SIMPLEX, 1.1, (255,) * 3, 2)
    return picture


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_words_of_an_uneven_video_stand_at_the_times_of_the_file(tmp_path, kind):
    """Words that only a held picture shows, then others in a burst of frames, then held."""
    burst = [7000 + round(n * 1000 / 60) for n in range(60)]
    shown = [flat((60, 90, 40), SIZE)] * 2 + [card("HELLO THERE")] + [card("HALF PRICE")] * 61
    path = encode(tmp_path / f"a.{kind}", shown, times_ms=[0, 40, 80, *burst, 11_000])
    memory = build_memory(path, memories=tmp_path / "m")
    found = {line.text: line.span for line in memory.screen_text}
    assert set(found) == {"HELLO THERE", "HALF PRICE"}
    assert found["HELLO THERE"].start_s == pytest.approx(0.08, abs=0.05)
    assert found["HELLO THERE"].end_s == pytest.approx(7.0, abs=0.1)
    assert found["HALF PRICE"].start_s == pytest.approx(7.0, abs=0.05)
    assert found["HALF PRICE"].end_s == pytest.approx(memory.video.duration_s, abs=0.1)
    assert all(clip.frames for clip in memory.clips)
    assert memory.provenance.frames_read < memory.provenance.frames_sampled / 2


def test_a_turned_video_has_its_words(tmp_path):
    lying = np.ascontiguousarray(np.rot90(card("HALF PRICE")))
    path = turned(encode(tmp_path / "a.mp4", [lying] * 10), 1)
    memory = build_memory(path, memories=tmp_path / "m")
    assert [line.text for line in memory.screen_text] == ["HALF PRICE"]
    assert (memory.video.width, memory.video.height) == SIZE


def test_an_interlaced_video_has_its_words(tmp_path):
    kind, codec, options = INTERLACED["MPEG-2 in MPEG-PS"]
    frames = woven([card("HALF PRICE")] * 20)
    path = encode(tmp_path / f"a.{kind}", frames, codec=codec, options=options)
    memory = build_memory(path, memories=tmp_path / "m")
    assert [line.text for line in memory.screen_text] == ["HALF PRICE"]


def test_a_stream_without_times_has_its_words(tmp_path):
    path = encode(tmp_path / "a.h264", [card("HALF PRICE")] * 30)
    memory = build_memory(path, memories=tmp_path / "m")
    assert [line.text for line in memory.screen_text] == ["HALF PRICE"]
    assert memory.video.duration_s == pytest.approx(1.2)
