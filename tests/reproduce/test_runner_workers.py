"""Workers that are killed before they begin."""

import queue
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

import pytest

from harness import runner
from harness.experiments import Experiment


class DiesAfterOne:
    """A pool whose worker is killed when the first experiment is done, and others are still handed out."""

    def __init__(self):
        self.num_submitted = 0

    def submit(self, function, experiment):
        self.num_submitted += 1
        if self.num_submitted > 1:
            raise BrokenProcessPool("a child process terminated abruptly")
        future = Future()
        future.set_result("records")
        return future


def test_a_worker_killed_while_experiments_are_handed_out_is_told_and_what_is_done_is_kept(monkeypatch):
    @contextmanager
    def workers(processes, ray):
        yield DiesAfterOne(), queue.Queue()

    monkeypatch.setattr(runner, "workers", workers)
    experiments, kept = [Experiment("synthetic", (0.0,), (seed,), rows=10) for seed in range(3)], []
    with pytest.raises(ChildProcessError, match=r"2 experiments failed; the others are kept.*its process was killed"):
        kept.extend(runner.finished(experiments, 2, lambda done: None))
    assert kept == [(experiments[0], "records")]
