"""What a build has cost survives its end."""

from __future__ import annotations

import pytest

from admir.memory.usage_journal import UsageJournal
from admir.types import Usage

CALL = Usage(calls=1, input_tokens=100, output_tokens=10, cost_usd=0.01)


class Meter:
    """What the backend of a run has cost so far."""

    def __init__(self) -> None:
        self.now = Usage()

    def pay(self, times=1):
        for _ in range(times):
            self.now += CALL
        return self

    def __call__(self) -> Usage:
        return self.now


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


def calls_of(journal):
    return journal.spent().calls


def test_what_was_kept_is_paid_for_in_the_next_run_too(path):
    meter = Meter()
    first = UsageJournal(path, meter)
    meter.pay(2)
    first.keep("a", 1)
    meter.pay()
    first.keep("b", 2)
    assert calls_of(first) == 3
    again = UsageJournal(path, Meter())
    assert (again["a"], again["b"], calls_of(again)) == (1, 2, 3)
    assert again.spent().cost_usd == pytest.approx(0.03)


def test_runs_add_up(path):
    UsageJournal(path, Meter().pay(2)).keep("a", 1)
    UsageJournal(path, Meter().pay(3)).keep("b", 2)
    last = UsageJournal(path, Meter())
    assert calls_of(last) == 5
    last.keep("c", 3)
    assert calls_of(UsageJournal(path, Meter())) == 5


def test_what_was_paid_and_not_kept_counts_in_its_own_run_alone(path):
    meter = Meter()
    journal = UsageJournal(path, meter)
    journal.keep("a", 1)
    meter.pay(4)
    assert calls_of(journal) == 4
    assert calls_of(UsageJournal(path, Meter())) == 0


def test_a_mind_that_costs_nothing_leaves_no_mark(path):
    journal = UsageJournal(path, Usage)
    journal.keep("a", 1)
    assert journal.spent() == Usage()
    assert b"usage" not in path.read_bytes()


def test_a_run_killed_while_it_writes_loses_at_most_its_last_piece(path):
    meter = Meter()
    journal = UsageJournal(path, meter)
    for n, key in enumerate("abc", start=1):
        meter.pay()
        journal.keep(key, n)
    path.write_bytes(path.read_bytes()[:-5])
    again = UsageJournal(path, Meter())
    assert "c" not in again
    assert calls_of(again) == 3, "the cost is written before the piece"
