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
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from tqdm import tqdm

import aranyani_tf as ar
from aranyani_tf.arguments import require_choice
from aranyani_tf.baselines.majority import majority
from aranyani_tf.files import whole_file
from aranyani_tf.records import learn_stream
from methods import METHODS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
RULES = {
    "released": {"penalty": ar.Huber(linear_slope=1.0), "wait_for_all_groups": True},
    "paper": {"penalty": ar.Huber()},
    "none": {},  # for methods that have no such penalty
}
TABULAR = ("adult", "census", "compas")
FIRST_COLUMNS = ["dataset", "preprocessing", "method", "rule", "fairness_weight", "seed", "step", "accuracy",
                 "demographic_parity", "late_accuracy", "late_demographic_parity", "window_demographic_parity"]


@dataclass(frozen=True)
class Experiment:
    """A grid of λ and seeds over one stream.

    Args:
        dataset, preprocessing: of `ar.datasets.load`.
        method: one of `methods.METHODS`.
        rule: "paper" or "released", the slope of the Huber penalty and when updates begin.
        fairness_weights, seeds: the grid.
        num_trees, height: of the forest.
        decay: forgetting rate of the running means.
        rows: how many rows of the stream; None for all.
    """

    dataset: str
    fairness_weights: tuple
    seeds: tuple
    preprocessing: str = "released"
    method: str = "aranyani"
    rule: str = "released"
    num_trees: int = 3
    height: int = 4
    decay: float | None = None
    rows: int | None = None

    def __post_init__(self):
        require_choice("dataset", self.dataset, ar.datasets.names())
        require_choice("method", self.method, tuple(METHODS))
        require_choice("rule", self.rule, tuple(RULES))

    def stream(self):
        return load(self.dataset, self.preprocessing)[: self.rows]

    @property
    def key(self):
        """Changes with the settings, the code, its libraries and the data: no old result passes for a new one."""
        known = [json.dumps(asdict(self), sort_keys=True), fingerprint(), data_fingerprint(self.dataset)]
        return hashlib.sha256(" ".join(known).encode()).hexdigest()[:16]

    def run(self, on_chunk=None):
        """The records of this grid, and of Majority, which the runs with λ = 0 give for free."""
        stream = self.stream()
        method = METHODS[self.method]
        if method.learner:
            records = pd.concat(
                [learn_stream(method.learner(seed), stream, on_chunk=on_chunk).assign(seed=seed, fairness_weight=0.0)
                 for seed in self.seeds], ignore_index=True)
        else:
            settings = {"num_trees": self.num_trees, "height": self.height, "decay": self.decay, **RULES[self.rule]}
            grove = ar.Grove(settings | method.settings(stream.num_features, self.height),
                             fairness_weights=self.fairness_weights, seeds=self.seeds, model_class=method.model)
            records = grove.fit(stream, on_chunk=on_chunk, verbose=0)
        frames = [records.assign(method=self.method)]
        plain = (self.method, self.rule, self.decay) == ("aranyani", "released", None)
        if plain and 0.0 in self.fairness_weights:
            unfair = records[(records["fairness_weight"] == 0) & (records["step"] == len(stream))]
            frames.append(majority(unfair, stream).assign(method="majority"))
        frame = pd.concat(frames, ignore_index=True).assign(
            dataset=self.dataset, preprocessing=self.preprocessing, rule=self.rule, num_trees=self.num_trees,
            height=self.height, decay=self.decay)
        return frame[FIRST_COLUMNS + [name for name in frame if name not in FIRST_COLUMNS]]


@cache
def load(dataset, preprocessing):
    if dataset in TABULAR:
        return ar.datasets.load(dataset, preprocessing=preprocessing)
    if preprocessing != "released":
        raise ValueError(f"{dataset} has only one preprocessing, its own; got {preprocessing!r}")
    return ar.datasets.load(dataset)


@cache
def fingerprint():
    """A hash of the code that the numbers depend on, and of its libraries' versions."""
    found = hashlib.sha256("".join(map(version, ("tensorflow", "keras", "numpy", "pandas", "river"))).encode())
    for path in sorted([*(ROOT / "aranyani_tf").rglob("*.py"), Path(__file__), ROOT / "reproduce" / "methods.py"]):
        found.update(path.read_bytes())
    return found.hexdigest()


@cache
def data_fingerprint(dataset):
    """A hash of data that the user has made; that of shipped files is part of the code."""
    if dataset in (*TABULAR, "synthetic", "wiki_toxicity"):
        return ""
    stream = load(dataset, "released")
    return hashlib.sha256(stream.features[::101].tobytes() + stream.labels.tobytes()).hexdigest()


def run_all(name, experiments, *, results=RESULTS, fresh=False, processes=None, progress=True):
    """Runs what is not done yet; returns all records, which are then in `results/<name>.csv`."""
    # One folder for all figures, so that an experiment of two of them is run once.
    files = {experiment: Path(results) / ".parts" / f"{experiment.key}.csv" for experiment in experiments}
    if fresh:
        for file in files.values():
            file.unlink(missing_ok=True)
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
    records = pd.read_csv(csv)
    records.attrs["num_run"] = len(todo)
    return records


def finished(experiments, processes, report):
    """Yields (experiment, records) as they are done, one process a core."""
    if not experiments:
        return
    context = multiprocessing.get_context("spawn")
    counts = context.Queue()
    with ProcessPoolExecutor(min(processes, len(experiments)), context, prepare_worker, (counts, os.getpid())) as pool:
        waiting = {pool.submit(run_one, experiment): experiment for experiment in experiments}
        failures = []
        try:
            while waiting:
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                report(sum(drain(counts)))
                for future in done:
                    experiment = waiting.pop(future)
                    if future.exception():
                        failures.append((experiment, future.exception()))  # the others go on
                    else:
                        yield experiment, future.result()
        except BaseException:  # Ctrl-C, say: what is under way would not be kept
            for worker in multiprocessing.active_children():
                worker.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if failures:
        experiment, error = failures[0]
        lost = isinstance(error, BrokenProcessPool)
        raise RuntimeError(f"{len(failures)} experiments failed; the others are kept. The first, {experiment}: "
                           + ("its process was killed; is there enough memory? --processes 1 needs less" if lost
                              else str(error))) from error


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
    return experiment.run(on_chunk=run_one.counts.put)


def join(files, csv):
    """One CSV of several with the same columns or some of them, in the given order."""
    frames = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    with whole_file(csv, "w") as file:
        pd.concat(frames).fillna("").to_csv(file, index=False)


def num_samples(experiment):
    """Rows times models, for the progress bar."""
    rows = experiment.rows or len(experiment.stream())
    return rows * len(experiment.fairness_weights) * len(experiment.seeds)
