"""The tree of errors: one line each, names for programs, codes for shells."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admir import errors
from admir.errors import AdmirError
from tests.properties import examples


def tree(base=AdmirError):
    return [base, *(each for child in base.__subclasses__() for each in tree(child))]


ALL = tree()


@examples(100)
@given(st.text(max_size=60))
def test_a_message_is_one_line_whatever_went_into_it(text):
    assert len(str(AdmirError(f"cannot read {text}")).splitlines()) == 1


def test_a_message_does_not_steer_the_terminal():
    assert str(AdmirError("cannot read \x1b[31m\x9b\u202ead\udce9.mp4 灯")) == (
        "cannot read [31mad.mp4 灯"
    )


def test_every_error_of_the_module_is_in_the_tree():
    named = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert set(named) == set(ALL)
    assert all(error.__name__ in errors.__doc__ for error in ALL)


def test_kinds_are_all_different_but_for_what_adds_nothing():
    kinds = [error.kind for error in ALL]
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("error", ALL)
def test_a_shell_sees_a_failure_that_is_not_one_of_its_own(error):
    assert 1 <= error.exit_code < 126
    assert error.kind == error.kind.lower()
    assert " " not in error.kind


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("AdmirError", "error", 1),
        ("QuestionError", "bad-question", 2),
        ("OptionError", "bad-option", 2),
        ("VideoNotFound", "video-not-found", 3),
        ("VideoUnreadable", "video-unreadable", 3),
        ("UnknownVideo", "unknown-video", 4),
        ("MemoryDamaged", "memory-damaged", 5),
        ("MemoryVersionError", "memory-version", 5),
        ("EmbedderMismatch", "embedder-mismatch", 5),
        ("BuildInProgress", "build-in-progress", 6),
        ("BackendUnavailable", "backend-unavailable", 7),
    ],
)
def test_names_and_codes_that_programs_rely_on_stay(name, kind, code):
    error = getattr(errors, name)
    assert (error.kind, error.exit_code) == (kind, code)


@pytest.mark.parametrize("error", ALL)
def test_an_error_goes_to_another_process_and_comes_back_alike(error):
    back = pickle.loads(pickle.dumps(error("cannot  do\nthis")))
    assert (type(back), str(back)) == (error, "cannot do this")
