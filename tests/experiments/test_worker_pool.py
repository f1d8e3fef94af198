"""Pools of workers that exist in this process only, and start, work and die as they are told to."""

from collections import deque

import pytest

from mage.experiments import EngineError, Failure
from mage.experiments.engines.serialization import unpack
from mage.experiments.engines.worker_pool import Worker, WorkerPool


class Puppet(Worker):
    """A worker that doubles numbers; it dies of the job 13, and starts only if it may."""

    waits_for_start = True

    def __init__(self, may_start=True):
        super().__init__()
        self.may_start = may_start
        self.outbox = deque([None] if may_start else [])
        self.jobs = []
        self.is_over = False

    def post(self, content):
        job = unpack(content)
        self.jobs.append(job)
        self.outbox.append("death" if job == 13 else 2 * job)

    def handles(self):
        return [self] if self.outbox else []

    def received(self):
        while self.outbox:
            if (result := self.outbox.popleft()) == "death":
                raise EOFError
            yield result

    def end(self, patience=0.0):
        self.is_over = True
        return "a string was cut"

    def dismiss(self):
        pass


def pool_of(size, starts, timeout=None):
    workers = []

    def start():
        workers.append(Puppet(starts(len(workers))))
        return workers[-1]

    def wait(handles, seconds):
        assert handles, "nobody would ever wake up"
        return handles

    return WorkerPool(size, start, wait, timeout), workers


def test_a_worker_that_never_starts_keeps_no_job_from_the_others():
    pool, workers = pool_of(3, starts=lambda number: number == 1)
    assert sorted(pool.run(iter(range(20, 40)))) == [(job, 2 * job) for job in range(20, 40)]
    assert [len(worker.jobs) for worker in workers] == [0, 20, 0]
    assert all(worker.is_over for worker in workers)


def test_all_workers_get_their_part():
    pool, workers = pool_of(2, starts=lambda number: True)
    assert len(list(pool.run(iter(range(20, 60))))) == 40
    assert [len(worker.jobs) for worker in workers] == [20, 20]


def test_no_more_workers_are_started_than_there_are_jobs():
    pool, workers = pool_of(50, starts=lambda number: True)
    assert sorted(pool.run(iter(range(3)))) == [(0, 0), (1, 2), (2, 4)]
    assert len(workers) == 3


def test_jobs_are_taken_as_they_are_needed():
    pool, workers = pool_of(2, starts=lambda number: True)
    jobs = iter(range(1, 100))
    run = pool.run(jobs)
    assert next(run)[1] % 2 == 0
    assert next(jobs) <= 6  # two workers, two jobs each, and the one that was returned
    run.close()
    assert all(worker.is_over for worker in workers)


def test_the_oldest_job_of_a_dead_worker_is_blamed_and_no_other():
    pool, _ = pool_of(2, starts=lambda number: True)
    results = dict(pool.run(iter(range(10, 20))))
    assert results.pop(13) == Failure("death", "3 workers died of it, the last with: a string was cut")
    assert results == {job: 2 * job for job in range(10, 20) if job != 13}


def test_workers_that_die_before_they_begin_end_the_run():
    class Stillborn(Puppet):
        def __init__(self):
            super().__init__()
            self.outbox = deque(["death"])

    with pytest.raises(EngineError, match="3 workers ended before they could begin, the last with: a string was cut"):
        list(WorkerPool(1, Stillborn, lambda handles, seconds: handles, None).run(iter(range(3))))
