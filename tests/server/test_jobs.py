"""The table of jobs by itself: what two services, kills and other files do to it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from admir.errors import MemoryStoreError, ServerBusy, UnknownJob
from admir.server.jobs import Job, Jobs, new_job, now_text
from admir.server.paths import ServicePaths


@pytest.fixture
def opened(tmp_path: Path):
    """Makes the tables of services on one folder; they are closed at the end."""
    made: list[Jobs] = []

    def open_one() -> Jobs:
        made.append(Jobs(ServicePaths(tmp_path)))
        return made[-1]

    yield open_one
    for jobs in made:
        jobs.close()
        jobs.places.end()


def job(name: str = "a", metadata: str | None = None) -> Job:
    return new_job(name=name, path=f"/{name}", sha256=name, metadata=metadata, made_with="x")


def killed(jobs: Jobs) -> None:
    """The service ends without a word."""
    jobs.close()
    jobs.places.end()


def test_nothing_is_made_before_the_first_job(opened, tmp_path):
    jobs = opened()
    assert jobs.recent(9) == []
    assert jobs.claim() is None
    assert jobs.take_up() == 0
    assert jobs.counts()["queued"] == 0
    with pytest.raises(UnknownJob):
        jobs.cancel("x")
    assert list(tmp_path.iterdir()) == []


def test_a_job_is_claimed_once_whoever_asks(opened):
    services = [opened() for _ in range(4)]
    added = {services[0].add(job(str(n))).id for n in range(20)}
    with ThreadPoolExecutor(8) as pool:
        claimed = list(pool.map(lambda n: services[n % 4].claim(), range(40)))
    assert sorted(j.id for j in claimed if j) == sorted(added)


def test_the_same_job_is_added_once(opened):
    jobs = opened()
    first = jobs.add(job())
    assert jobs.add(job()).id == first.id
    assert jobs.add(job(metadata="{}")).id != first.id
    jobs.cancel(first.id)
    assert jobs.add(job()).id != first.id


def test_only_the_jobs_of_a_dead_service_are_taken_up(opened):
    dead, alive, other = opened(), opened(), opened()
    first, second = dead.add(job("a")), dead.add(job("b"))
    assert dead.claim().id == first.id
    assert alive.claim().id == second.id
    assert other.take_up() == 0
    killed(dead)
    assert other.take_up() == 1
    assert (other.get(first.id).state, other.get(second.id).state) == ("queued", "running")
    assert other.tell(second.id, "decode", 50, 1.0) is False


def test_a_video_that_kills_three_services_fails(opened):
    watcher = opened()
    added = watcher.add(job())
    for _ in range(3):
        assert watcher.get(added.id).state == "queued"
        service = opened()
        assert service.claim().id == added.id
        killed(service)
        watcher.take_up()
    failed = watcher.get(added.id)
    assert (failed.state, failed.error_kind) == ("failed", "killed")


def test_a_build_that_comes_further_each_time_goes_on(opened):
    watcher = opened()
    added = watcher.add(job())
    for turn in range(5):
        service = opened()
        assert service.claim().id == added.id
        for percent in range(0, 10 * turn + 10, 5):
            assert service.tell(added.id, "decode", percent, None)
        killed(service)
        watcher.take_up()
    assert watcher.get(added.id).state == "queued"


def test_a_job_that_is_given_back_waits_its_time(opened):
    jobs = opened()
    added = jobs.add(job())
    jobs.claim()
    jobs.give_back(added.id, 60)
    assert jobs.get(added.id).state == "queued"
    assert jobs.claim() is None


def test_a_cancelled_job_does_not_end_as_done(opened):
    jobs = opened()
    added = jobs.add(job())
    jobs.claim()
    jobs.cancel(added.id)
    assert jobs.end(added.id, "done", video_id="a") is False
    assert jobs.get(added.id).state == "cancelled"


def test_a_full_queue_and_old_jobs(opened):
    jobs = opened()
    jobs.add(job("a"))
    jobs.check_room(2)
    with pytest.raises(ServerBusy):
        jobs.check_room(2, coming=1)
    jobs.cancel(jobs.add(job("b")).id)
    assert jobs.forget_ended(now_text(), dry_run=True) == 1
    assert jobs.forget_ended(now_text()) == 1
    assert [each.name for each in jobs.recent(9)] == ["a"]


def test_another_file_in_its_place_is_told_in_one_line(opened, tmp_path):
    (tmp_path / ".service").mkdir()
    (tmp_path / ".service" / "jobs.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(MemoryStoreError, match="cannot be used: file is not a database"):
        opened().recent(1)
