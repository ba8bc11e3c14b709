"""Lines that OCR is unsure of are read again by a model, which may fail."""

from __future__ import annotations

import pytest

from admir.backends.llm import llm_backend
from admir.concurrency import run_sync, run_to_end
from admir.errors import EndpointError
from admir.memory.builder import Builder
from admir.memory.store import MemoryStore
from admir.perception.embed import HashingEmbedder
from admir.perception.ocr import TextLine
from tests.model_server import Http

BOX = (0.1, 0.1, 0.5, 0.2)


class Doubtful:
    """Reads one line in every picture, and is not sure of it."""

    id = "doubtful"

    def __init__(self, confidence=0.5):
        self.confidence = confidence

    def read(self, pixels):
        return (TextLine(text="N0W $4B", box=BOX, confidence=self.confidence),)


@pytest.fixture
def build(ramp, settings):
    def run(reader=None, **changes):
        chosen = settings(screen_text="auto", cache=False, **changes)
        maker = Builder(
            settings=chosen,
            store=MemoryStore(chosen.memories),
            backend=llm_backend(chosen),
            embedder=HashingEmbedder(),
            reader=reader or Doubtful(),
        )
        return run_sync(run_to_end(maker.build(ramp, {}))).memory

    return run


def texts(memory):
    return {line.text for line in memory.screen_text}


def test_one_frame_a_clip_is_read_again(server, build):
    server.script["read_text"] = lambda asked: {"lines": ["NOW $48", "only today"]}
    memory = build()
    assert 1 <= len(server.asked("read_text")) <= len(memory.clips)
    assert all(len(asked.images) == 1 for asked in server.asked("read_text"))
    assert {"NOW $48", "only today"} <= texts(memory)
    assert "NOW $48" in server.asked("caption")[0].text, "the caption is told the better reading"


def test_sure_lines_are_not_read_again(server, build):
    assert texts(build(Doubtful(confidence=0.95))) == {"N0W $4B"}
    assert server.asked("read_text") == []


FAULTS = [Http(400, "no"), "no JSON", {"lines": []}, {"lines": ["", " ", "!?"]}]


@pytest.mark.parametrize("fault", FAULTS)
def test_where_the_second_reading_fails_the_first_stays(server, build, fault):
    server.script["read_text"] = lambda asked: fault
    memory = build()
    assert texts(memory) == {"N0W $4B"}
    assert all(clip.caption for clip in memory.clips)


def test_a_refused_key_ends_the_build(server, build):
    server.script["read_text"] = lambda asked: Http(401, "who are you?")
    with pytest.raises(EndpointError, match="who are you"):
        build()
