"""faster-whisper through the whole path, with weights that say the same whatever they hear."""

from __future__ import annotations

import gc
import shutil
import socket
import weakref

import numpy as np
import pytest

from admir.errors import BackendUnavailable, OptionError
from admir.perception import whisper
from admir.perception.devices import ON_CPU, DevicePlan
from admir.perception.speech import SAMPLE_RATE
from admir.perception.whisper import FasterWhisper
from benchmarks.whisper_shape import write_whisper
from tests.perception.voices import SENTENCES, music, noise, voice

pytestmark = pytest.mark.extra("speech")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_whisper(tmp_path_factory.mktemp("weights") / "tiny")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("reached for the network"))


@pytest.fixture
def loads(monkeypatch):
    """Where the weights were loaded; a list."""
    places, real = [], whisper.load_whisper
    monkeypatch.setattr(
        whisper, "load_whisper", lambda folder, p: places.append(p) or real(folder, p)
    )
    return places


def check_said(found, language="en"):
    """Two utterances, each with its words inside the sentence it stands for."""
    assert [each.text for each in found] == ["Stop feeling tired."] * 2
    for each, said in zip(found, SENTENCES, strict=True):
        assert each.language == language
        assert each.confidence == pytest.approx(1.0, abs=0.05)
        assert [word.text for word in each.words] == ["Stop", "feeling", "tired."]
        assert said.start_s - 0.3 <= each.words[0].span.start_s <= said.end_s
        times = [t for word in each.words for t in (word.span.start_s, word.span.end_s)]
        assert times == sorted(times)
        assert each.span.start_s - 0.01 <= times[0]
        assert times[-1] <= said.end_s + 0.4


def test_what_is_said_comes_with_its_words_and_times(tiny):
    recogniser = FasterWhisper(tiny, "tiny")
    seconds = []
    check_said(recogniser.transcribe(voice(), tell=seconds.append))
    assert len(seconds) == 2
    assert seconds == sorted(seconds)
    assert recogniser.warnings == []


def test_the_batch_of_a_card_says_the_same(tiny, monkeypatch):
    batch = DevicePlan(device="cpu", compute_type="int8", batch=2)
    monkeypatch.setattr(whisper, "place_for", lambda *_: batch)
    monkeypatch.setattr(whisper, "with_cpu_behind", lambda place, work, *_: work(place))
    check_said(FasterWhisper(tiny, "tiny").transcribe(voice()))


@pytest.mark.parametrize(
    "audio",
    [np.zeros(20 * SAMPLE_RATE, dtype=np.float32), noise(), music(), np.zeros(0, np.float32)],
    ids=["silence", "noise", "music", "nothing"],
)
def test_where_nobody_speaks_nothing_is_said_and_nothing_is_loaded(tiny, loads, audio):
    assert FasterWhisper(tiny, "tiny").transcribe(audio) == ()
    assert loads == []


@pytest.mark.parametrize("language", ["zh", "de"])
def test_the_language_is_detected(tmp_path, language):
    weights = write_whisper(tmp_path / "tiny", language=language)
    found = FasterWhisper(weights, "tiny").transcribe(voice())
    assert {each.language for each in found} == {language}


def test_the_language_can_be_given(tiny, monkeypatch):
    monkeypatch.setattr(whisper, "language_of", pytest.fail)
    found = FasterWhisper(tiny, "tiny", language="de").transcribe(voice())
    assert {each.language for each in found} == {"de"}


def test_a_language_nobody_knows_is_refused(tiny):
    with pytest.raises(OptionError, match="'qq'"):
        FasterWhisper(tiny, "tiny", language="qq").transcribe(voice())


def test_a_model_in_a_loop_is_not_believed(tmp_path):
    weights = write_whisper(tmp_path / "tiny", says=[" buy"] * 12)
    recogniser = FasterWhisper(weights, "tiny")
    assert recogniser.transcribe(voice()) == ()
    (line,) = recogniser.warnings
    assert "left out" in line


def test_a_line_invented_for_every_piece_is_kept_once(tiny):
    found = FasterWhisper(tiny, "tiny").transcribe(np.tile(voice(), 2))
    assert len(found) == 1


def test_a_full_card_is_left_for_the_cpu(tiny, monkeypatch):
    """The fake fails as CTranslate2 does."""
    real, tried = whisper.load_whisper, []

    def load(folder, place):
        tried.append(place.device)
        if place.device == "cuda":
            raise RuntimeError("CUDA failed with error out of memory")
        return real(folder, place)

    card = DevicePlan(device="cuda", compute_type="float16", batch=8)
    monkeypatch.setattr(whisper, "place_for", lambda *_: card)
    monkeypatch.setattr(whisper, "load_whisper", load)
    recogniser = FasterWhisper(tiny, "tiny")
    check_said(recogniser.transcribe(voice()))
    assert tried == ["cuda", "cpu"]
    (line,) = recogniser.warnings
    assert "out of memory" in line
    check_said(recogniser.transcribe(voice()))
    assert len(recogniser.warnings) == 1, "the warnings are those of the last work"


def test_speakers_that_it_cannot_tell_apart_are_a_warning(tiny):
    recogniser = FasterWhisper(tiny, "tiny", speakers=True)
    check_said(recogniser.transcribe(voice()))
    assert recogniser.warnings == ["speakers are not told apart: only whisperx does that"]


def test_a_stop_ends_it_with_what_it_has(tiny):
    seconds = []
    found = FasterWhisper(tiny, "tiny").transcribe(
        voice(), tell=seconds.append, stop=lambda: bool(seconds)
    )
    assert len(found) == 1


def test_weights_that_are_broken_are_one_line(tmp_path):
    weights = write_whisper(tmp_path / "tiny")
    (weights / "model.bin").write_bytes(b"torn")
    with pytest.raises(BackendUnavailable, match="fetch-models"):
        FasterWhisper(weights, "tiny").transcribe(voice())
    (weights / "tokenizer.json").write_text("torn")
    write_whisper(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.bin", weights)
    with pytest.raises(BackendUnavailable, match="fetch-models"):
        FasterWhisper(weights, "tiny").transcribe(voice())
    (weights / "model.bin").unlink()
    with pytest.raises(BackendUnavailable, match="fetch-models"):
        FasterWhisper(weights, "tiny").transcribe(voice())


def test_the_weights_are_freed_behind_the_work(tiny, monkeypatch):
    real, models = whisper.load_whisper, []

    def load(folder, place):
        model = real(folder, place)
        models.append(weakref.ref(model))
        return model

    monkeypatch.setattr(whisper, "load_whisper", load)
    FasterWhisper(tiny, "tiny").transcribe(voice())
    gc.collect()
    assert [model() for model in models] == [None]


def test_other_weights_are_another_recogniser(tmp_path):
    one = write_whisper(tmp_path / "one")
    same = write_whisper(tmp_path / "same")
    other = write_whisper(tmp_path / "other", says=[" Buy"])
    assert FasterWhisper(one, "m").id == FasterWhisper(same, "m").id
    assert FasterWhisper(one, "m").id != FasterWhisper(other, "m").id


def test_it_loads_on_the_cpu_by_itself(tiny, loads):
    FasterWhisper(tiny, "tiny").transcribe(voice())
    assert loads == [ON_CPU]
