"""Where the speech of a memory comes from, when it is heard anew, and what is said of it."""

from __future__ import annotations

import time

import pytest

from admir.errors import BackendUnavailable, OptionError
from admir.memory.provenance import fingerprint_of, read_source
from admir.trace import BuildProgress
from admir.types import Recognition, Span, Utterance, Word
from tests.conftest import flat, write_video
from tests.memory.making import Died, build, builder_of, stop_after
from tests.perception.voices import voice, write_sounding

CUE = "1\n00:00:00,500 --> 00:00:02,000\n{}\n"
WHY = "nothing that recognises speech is installed"
SOURCE = "fake 1.0, tiny@1: en (0.80)"


class Ears:
    """A recogniser that hears one line in each sound, and counts; `dies` when it has heard."""

    engine, model = "fake 1.0", "tiny@1"

    def __init__(self, *, says="Try Aurora", dies=None, warnings=(), step_s=0.0):
        self.id = "fake 1.0, tiny@1"
        self.says, self.dies, self.warnings = says, dies, warnings
        self.count, self.step_s = 0, step_s

    def transcribe(self, audio, *, tell=lambda _: None, stop=lambda: False):
        self.count += 1
        assert len(audio) == len(voice())
        for second in range(1, 11):
            tell(float(second))
            time.sleep(self.step_s)
            if stop():
                return ()
        if self.dies:
            raise self.dies
        if not self.says:
            return ()
        span = Span(start_s=1.0, end_s=2.5)
        words = tuple(Word(span=span, text=t, confidence=0.8) for t in self.says.split())
        return (Utterance(span=span, text=self.says, language="en", confidence=0.8, words=words),)


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    return write_sounding(tmp_path_factory.mktemp("talk") / "talk.mkv", voice())


@pytest.fixture
def video(talk, tmp_path):
    """A video of its own, beside which a test may put subtitles."""
    path = tmp_path / "talk.mkv"
    path.hardlink_to(talk)
    return path


@pytest.fixture
def made(tmp_path, video):
    """Build the video's memory: (the event, all events)."""

    def make(ears=None, **settings):
        maker = builder_of(tmp_path / "m", ears=ears, deaf_because="" if ears else WHY, **settings)
        return build(maker, video)

    return make


def lines(built):
    return [each.text for each in built.memory.utterances]


def test_without_subtitles_it_is_recognised(made):
    built, events = made(Ears())
    memory, origin = built.memory, built.memory.provenance
    assert lines(built) == ["Try Aurora"]
    assert [word.text for word in memory.utterances[0].words] == ["Try", "Aurora"]
    assert "Try Aurora" in memory.clips[0].speech
    assert origin.speech_source == SOURCE
    assert origin.recognition == Recognition(
        engine="fake 1.0", model="tiny@1", language="en", confidence=0.8
    )
    assert not any("speech" in warning for warning in origin.warnings)
    told = [e for e in events if isinstance(e, BuildProgress) and e.stage == "speech" and e.total]
    assert [(e.done, e.total) for e in told][:3] == [(0, 11), (1, 11), (2, 11)]
    assert (told[-1].done, told[-1].total) == (11, 11)


def test_subtitles_come_before_a_recogniser(made, video):
    video.with_suffix(".srt").write_text(CUE.format("Hello"))
    ears = Ears()
    built, _ = made(ears)
    assert (lines(built), ears.count) == (["Hello"], 0)
    assert built.memory.provenance.recognition is None


def test_a_recogniser_that_is_named_listens_also_where_there_are_subtitles(made, video):
    video.with_suffix(".srt").write_text(CUE.format("Hello"))
    built, _ = made(Ears(), speech="faster-whisper")
    assert lines(built) == ["Try Aurora"]
    video.with_suffix(".srt").write_text(CUE.format("Good morning"))
    again, _ = made(Ears(), speech="faster-whisper")
    assert again.reused, "what it does not depend on makes it not stale"


def test_a_given_file_comes_before_all(made, video, tmp_path):
    video.with_suffix(".srt").write_text(CUE.format("Hello"))
    (tmp_path / "other.vtt").write_text("WEBVTT\n\n" + CUE.format("Good morning"))
    built, _ = made(Ears(), speech=str(tmp_path / "other.vtt"))
    assert lines(built) == ["Good morning"]
    assert built.memory.provenance.speech_source == "other.vtt"


def test_a_given_file_that_is_no_use_is_refused(made, tmp_path):
    with pytest.raises(OptionError, match=r"gone\.srt"):
        made(speech=str(tmp_path / "gone.srt"))
    (tmp_path / "empty.srt").write_text("no cue")
    with pytest.raises(OptionError, match="holds no cue"):
        made(speech=str(tmp_path / "empty.srt"))


def test_the_language_chooses_the_subtitles(made, video):
    for code, text in (("en", "Hello"), ("de", "Guten Tag")):
        video.with_suffix(f".{code}.srt").write_text(CUE.format(text))
    assert lines(made()[0]) == ["Guten Tag"]
    assert lines(made(language="en")[0]) == ["Hello"]
    ears = Ears()
    made(ears, language="fr")
    assert ears.count == 1


def test_switched_off_is_switched_off(made, video):
    video.with_suffix(".srt").write_text(CUE.format("Hello"))
    ears = Ears()
    built, _ = made(ears, speech="none")
    assert (lines(built), ears.count) == ([], 0)


def test_without_a_recogniser_the_memory_says_why(made):
    built, _ = made()
    assert any(WHY in warning for warning in built.memory.provenance.warnings)
    assert WHY in built.memory.provenance.speech_source


def test_nobody_speaking_is_no_warning(made):
    origin = made(Ears(says=""))[0].memory.provenance
    assert origin.speech_source == "fake 1.0, tiny@1: no speech"
    assert origin.recognition.confidence is None
    assert not any("speech" in warning for warning in origin.warnings)


def test_a_video_without_sound_is_not_listened_to(tmp_path):
    video = write_video(tmp_path / "v.mp4", lambda _: flat((0, 0, 0)))
    ears = Ears()
    built, _ = build(builder_of(tmp_path / "m", ears=ears), video)
    assert ears.count == 0
    assert built.memory.provenance.speech_source == "none: the video has no sound"


def test_what_a_recogniser_did_without_is_a_warning(made):
    built, _ = made(Ears(warnings=["speech is recognised on the CPU"]))
    assert "speech is recognised on the CPU" in built.memory.provenance.warnings


def test_broken_subtitles_are_not_passed_over_in_silence(made, video):
    video.with_suffix(".srt").write_text("no cue")
    built, _ = made(Ears())
    assert lines(built) == ["Try Aurora"]
    assert any("talk.srt holds no cue" in w for w in built.memory.provenance.warnings)


def test_a_recogniser_that_fails_is_a_warning_of_auto_and_an_error_by_name(made):
    failing = Ears(dies=BackendUnavailable("the weights are torn; run `admir fetch-models`"))
    built, _ = made(failing)
    assert any("weights are torn" in w for w in built.memory.provenance.warnings)
    with pytest.raises(BackendUnavailable, match="torn"):
        made(failing, speech="faster-whisper")


def test_a_build_that_dies_later_does_not_listen_again(tmp_path, video, monkeypatch):
    ears = Ears()
    maker = builder_of(tmp_path / "m", ears=ears)
    with monkeypatch.context() as patch:
        patch.setattr("admir.memory.builder.make_clips", lambda *_: (_ for _ in ()).throw(Died))
        with pytest.raises(Died):
            build(maker, video)
    built, _ = build(maker, video)
    assert (lines(built), ears.count) == (["Try Aurora"], 1)
    assert built.memory.provenance.speech_source == SOURCE


def test_a_build_that_is_stopped_while_it_listens_listens_again(tmp_path, video):
    ears = Ears(step_s=0.1)
    maker = builder_of(tmp_path / "m", ears=ears)
    stop_after(maker, video, "speech", 3)
    built, _ = build(maker, video)
    assert (lines(built), ears.count) == (["Try Aurora"], 2)


def fingerprint(tmp_path, video, ears=None, **settings):
    maker = builder_of(tmp_path / "m", ears=ears, **settings)
    return fingerprint_of(read_source(video), {}, maker)


def test_a_recogniser_that_comes_later_makes_only_a_memory_without_subtitles_stale(tmp_path, video):
    assert fingerprint(tmp_path, video) != fingerprint(tmp_path, video, Ears())
    assert fingerprint(tmp_path, video, speech="none") == fingerprint(
        tmp_path, video, Ears(), speech="none"
    )
    video.with_suffix(".srt").write_text(CUE.format("Hello"))
    assert fingerprint(tmp_path, video) == fingerprint(tmp_path, video, Ears())
    assert fingerprint(tmp_path, video, language="de") != fingerprint(tmp_path, video)


def test_what_a_given_file_says_counts_and_not_where_it_lies(tmp_path, video):
    one, other = tmp_path / "one.srt", tmp_path / "other.srt"
    one.write_text(CUE.format("Hello"))
    other.write_text(CUE.format("Hello"))
    first = fingerprint(tmp_path, video, speech=str(one))
    assert first == fingerprint(tmp_path, video, speech=str(other))
    other.write_text(CUE.format("Good morning"))
    assert first != fingerprint(tmp_path, video, speech=str(other))
