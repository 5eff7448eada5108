"""Four small experiments, for a process that is killed (see `forked`)."""

import multiprocessing
from unittest import mock

from harness.experiments import Experiment
from harness.runner import run_all


def run(folder):
    """By a worker that is forked too, and so finds everything imported."""
    grid = [Experiment("synthetic", (0.0, weight), (0, 1), num_trees=1, height=1, rows=800)
            for weight in (0.1, 0.3, 1.0, 3.0)]
    fork = multiprocessing.get_context("fork")
    with mock.patch.object(multiprocessing, "get_context", return_value=fork):
        run_all("small", grid, results=folder, processes=1, progress=False)
