"""Settings in, records out: one tidy row for each dataset, method, setting, seed and checkpoint.

An `Experiment` is one grid of λ and seeds over one stream. `run_all` spreads experiments over the
cores, keeps each finished one as a file of its own, and joins these into `results/<name>.csv` as they
come in. A run that was killed goes on with those that are missing, and ends with the same bytes.
"""

import hashlib
import json
import multiprocessing
import os
import queue
import shutil
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import pandas as pd
from tqdm import tqdm

import aranyani_tf as ar
from aranyani_tf.arguments import require_choice
from aranyani_tf.baselines.majority import majority
from aranyani_tf.files import whole_file

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
RULES = {
    "released": {"penalty": ar.Huber(linear_slope=1.0), "wait_for_all_groups": True},
    "paper": {"penalty": ar.Huber()},
}
FIRST_COLUMNS = ["dataset", "preprocessing", "method", "rule", "fairness_weight", "seed", "step", "accuracy",
                 "demographic_parity", "late_accuracy", "late_demographic_parity", "window_demographic_parity"]


@dataclass(frozen=True)
class Experiment:
    """A grid of λ and seeds over one stream.

    Args:
        dataset, preprocessing: of `ar.datasets.load`.
        rule: "paper" or "released", the slope of the Huber penalty and when updates begin.
        fairness_weights, seeds: the grid.
        num_trees, height: of the forest.
        rows: how many rows of the stream; None for all.
    """

    dataset: str
    fairness_weights: tuple
    seeds: tuple
    preprocessing: str = "released"
    rule: str = "released"
    num_trees: int = 3
    height: int = 4
    rows: int | None = None

    def __post_init__(self):
        require_choice("dataset", self.dataset, ar.datasets.names())
        require_choice("rule", self.rule, tuple(RULES))

    def stream(self):
        return load(self.dataset, self.preprocessing)[: self.rows]

    @property
    def key(self):
        """Changes with the settings and with the code, so that no old result passes for a new one."""
        return hashlib.sha256(f"{json.dumps(asdict(self), sort_keys=True)} {fingerprint()}".encode()).hexdigest()[:16]

    def run(self, on_chunk=None):
        """The records of this grid, and of Majority, which the runs with λ = 0 give for free."""
        stream = self.stream()
        grove = ar.Grove({"num_trees": self.num_trees, "height": self.height, **RULES[self.rule]},
                         fairness_weights=self.fairness_weights, seeds=self.seeds)
        records = grove.fit(stream, on_chunk=on_chunk, verbose=0).assign(method="aranyani")
        frames = [records]
        if self.rule == "released" and 0.0 in self.fairness_weights:
            unfair = records.query("fairness_weight == 0 and step == @stream.features.shape[0]")
            frames.append(majority(unfair, stream).assign(method="majority"))
        frame = pd.concat(frames, ignore_index=True).assign(
            dataset=self.dataset, preprocessing=self.preprocessing, rule=self.rule, num_trees=self.num_trees,
            height=self.height)
        return frame[FIRST_COLUMNS + [name for name in frame if name not in FIRST_COLUMNS]]


@cache
def load(dataset, preprocessing):
    tabular = dataset in ("adult", "census", "compas")
    return ar.datasets.load(dataset, **({"preprocessing": preprocessing} if tabular else {}))


@cache
def fingerprint():
    """A hash of the code that the numbers depend on."""
    found = hashlib.sha256()
    for path in sorted([*(ROOT / "aranyani_tf").rglob("*.py"), Path(__file__)]):
        found.update(path.read_bytes())
    return found.hexdigest()


def run_all(name, experiments, *, results=RESULTS, fresh=False, processes=None, progress=True):
    """Runs what is not done yet; returns all records, which are then in `results/<name>.csv`."""
    parts = Path(results) / ".parts" / name
    if fresh:
        shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True, exist_ok=True)
    files = {experiment: parts / f"{experiment.key}.csv" for experiment in experiments}
    todo = [experiment for experiment in experiments if not files[experiment].is_file()]
    # The longest first, so that no core is left alone with it at the end.
    todo.sort(key=num_samples, reverse=True)
    csv = Path(results) / f"{name}.csv"
    if len(todo) < len(experiments):
        print(f"{len(experiments) - len(todo)} of {len(experiments)} experiments are done already; --fresh starts over")
    with tqdm(total=sum(map(num_samples, experiments)), unit="sample", unit_scale=True, desc=name,
              initial=sum(num_samples(each) for each in experiments if each not in todo),
              mininterval=0.5 if sys.stderr.isatty() else 15, disable=not progress) as bar:
        for experiment, frame in finished(todo, processes or os.cpu_count(), bar.update):
            with whole_file(files[experiment], "w") as file:
                frame.to_csv(file, index=False, float_format="%.6g")
            join([file for file in files.values() if file.is_file()], csv)
    join(files.values(), csv)
    return pd.read_csv(csv)


def finished(experiments, processes, report):
    """Yields (experiment, records) as they are done, one process a core."""
    if not experiments:
        return
    context = multiprocessing.get_context("spawn")
    counts = context.Queue()
    with ProcessPoolExecutor(min(processes, len(experiments)), context, prepare_worker, (counts, os.getpid())) as pool:
        waiting = {pool.submit(run_one, experiment): experiment for experiment in experiments}
        try:
            while waiting:
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                report(sum(drain(counts)))
                for future in done:
                    yield waiting.pop(future), future.result()
        finally:
            for future in waiting:
                future.cancel()


def drain(counts):
    while True:
        try:
            yield counts.get_nowait()
        except queue.Empty:
            return


def prepare_worker(counts, parent):
    """One thread a process; more would get into each other's way. A worker ends with its parent."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    run_one.counts = counts

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_one(experiment):
    try:
        return experiment.run(on_chunk=run_one.counts.put)
    except Exception as error:
        raise RuntimeError(f"{experiment} failed: {error}") from error


def join(files, csv):
    """One CSV of several with the same columns or some of them, in the given order."""
    frames = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    with whole_file(csv, "w") as file:
        pd.concat(frames).fillna("").to_csv(file, index=False)


def num_samples(experiment):
    """Rows times models, for the progress bar."""
    rows = experiment.rows or len(experiment.stream())
    return rows * len(experiment.fairness_weights) * len(experiment.seeds)
