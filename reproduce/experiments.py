"""Settings in, records out: one tidy row for each dataset, method, setting, seed and checkpoint.

An `Experiment` is one grid of λ and seeds over one stream; `runner.run_all` runs many of them.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pandas as pd

import aranyani_tf as ar
from aranyani_tf.arguments import require_choice
from aranyani_tf.baselines.majority import majority
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
    def cost(self):
        """Rows times models times the method's cost: about how long it takes."""
        rows = self.rows or len(self.stream())
        return rows * len(self.fairness_weights) * len(self.seeds) * METHODS[self.method].cost

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
