"""Four small experiments, for a process that is killed (see `forked`)."""

from harness.experiments import Experiment
from harness.runner import run_all


def run(folder):
    grid = [Experiment("synthetic", (0.0, weight), (0, 1), num_trees=1, height=1, rows=800)
            for weight in (0.1, 0.3, 1.0, 3.0)]
    run_all("small", grid, results=folder, processes=1, progress=False)
