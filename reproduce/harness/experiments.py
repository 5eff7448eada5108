"""Settings in, records out: one tidy row for each dataset, method, setting, seed and checkpoint.

An `Experiment` is one grid of λ and seeds over one stream; `runner.run_all` runs many of them.
"""

import quiet  # noqa: F401

import hashlib
import itertools
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.arguments import require_choice
from aranyani_tf.baselines.majority import majority
from aranyani_tf.errors import ArgumentError
from aranyani_tf.evaluation.learn_stream import learn_stream
from aranyani_tf.evaluation.records import log_spaced
from harness import fingerprints
from harness.experiment_streams import load, stands_in_for, thinned
from harness.methods import METHODS
from harness.race import Race
from harness.watched import Watched

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
RULES = {
    "released": {"penalty": ar.Huber(linear_slope=1.0), "wait_for_all_groups": True},
    "paper": {"penalty": ar.Huber()},
    "l2": {"penalty": ar.L2(), "wait_for_all_groups": True},
    "none": {},  # for methods that have no such penalty
}
ORDERS = ("file", "majority_first", "minority_first", "drift")
COMPILING = 4  # seconds
FIRST_COLUMNS = ["dataset", "preprocessing", "method", "rule", "fairness_weight", "seed", "step", "accuracy",
                 "demographic_parity", "late_accuracy", "late_demographic_parity", "window_demographic_parity"]
# Fields that become columns of their own, behind those.
FURTHER_COLUMNS = ("num_trees", "height", "decay", "forget", "chance", "notion", "update_when", "samples_per_step",
                   "groups", "share", "order", "fraction", "held_out")


@dataclass(frozen=True)
class Experiment:
    """A grid of λ and seeds over one stream.

    Args:
        dataset, preprocessing: of `ar.datasets.load`.
        method: one of `methods.METHODS`.
        rule: "paper" or "released", the slope of the Huber penalty and when updates begin; or "l2".
        fairness_weights, seeds: the grid.
        num_trees, height: of the forest.
        decay: forgetting rate of the running means.
        forget, chance: of `ar.Aranyani`.
        notion, update_when, samples_per_step: of `ar.Aranyani`.
        groups: which of a dataset's groupings; None for its own, or its only one.
        share: the share of the rows to which the smallest group is thinned, see `streams.thinned`; None for all rows.
        order: "file"; "majority_first" or "minority_first", see `Stream.adversarial`; "drift", see `synthetic`.
        fraction: the share of the rows that there are, from the first on.
        held_out: the share of the rows that is set aside, and looked at along the stream.
        record_gradients: adds the gradients' norms, each a mean since the checkpoint before.
        even_checkpoints: so many more, evenly spaced, beside the log-spaced ones.
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
    forget: str = "rows"
    chance: float = 0.0
    notion: str = "demographic_parity"
    update_when: str = "always"
    samples_per_step: int = 1
    groups: str | None = None
    share: float | None = None
    order: str = "file"
    fraction: float = 1.0
    held_out: float = 0.0
    record_gradients: bool = False
    even_checkpoints: int = 0
    rows: int | None = None

    def __post_init__(self):
        require_choice("dataset", self.dataset, ar.datasets.names())
        require_choice("method", self.method, tuple(METHODS))
        require_choice("rule", self.rule, tuple(RULES))
        require_choice("order", self.order, ORDERS)
        if self.order == "drift" and self.dataset != "synthetic":
            raise ArgumentError(f"order='drift' is for the dataset 'synthetic'; got {self.dataset!r}")
        unused = {field.name: (field.default,) for field in fields(self)} | {
            "fairness_weights": ((0.0,),), "rule": ("none", "released")}
        ignored = [f"{name}={getattr(self, name)!r}" for name in METHODS[self.method].ignores
                   if getattr(self, name) not in unused[name]]
        if ignored:
            raise ArgumentError(f"{', '.join(ignored)} has no effect on the method {self.method!r}; leave it out "
                                "(the weight of fairness is 0 there)")

    def stream(self):
        if self.order == "drift":
            stream = ar.datasets.load(self.dataset, num_rows=self.rows or 20_000, drift_at=0.5)
        else:
            stream = load(self.dataset, self.preprocessing, self.groups)[: self.rows]
        if self.share is not None:
            stream = thinned(stream, self.share)
        if self.order in ("majority_first", "minority_first"):
            stream = stream.adversarial(first=self.order.removesuffix("_first"))
        return stream.fraction(self.fraction)

    @property
    def cost(self):
        """About how many seconds it takes on one core: some to compile, then the same for every row and model."""
        stream, method = self.stream(), METHODS[self.method]
        size = stream.num_features * (1 if method.learner else self.num_trees * 2**self.height)
        models = len(self.fairness_weights) * len(self.seeds)
        return COMPILING * (method.learner is None) + 1e-9 * method.nanoseconds * size * len(stream) * models

    @property
    def key(self):
        """Changes with the settings, the code, its libraries and the data, as `fingerprints` tells."""
        code = fingerprints.of_code(self.method, self.dataset, type(self).__module__)
        known = [json.dumps(asdict(self), sort_keys=True), code, fingerprints.of_data(self.dataset)]
        return hashlib.sha256(" ".join(known).encode()).hexdigest()[:16]

    def run(self, on_chunk=None, on_record=None):
        """The records of this grid, and of Majority, which the runs with λ = 0 give for free.

        Args:
            on_chunk: called with the number of rows, times models, of each piece of work that is done.
            on_record: called with records as they come, if the method and its settings allow that; the models
                are then trained one by one.
        """
        stream = self.stream()
        records = self.learned(stream, METHODS[self.method], on_chunk, on_record)
        frames = [records.assign(method=self.method)]
        plain = (self.method, self.rule, self.decay, self.chance) == ("aranyani", "released", None, 0.0)
        if plain and 0.0 in self.fairness_weights and not self.held_out:
            unfair = records[(records["fairness_weight"] == 0) & (records["step"] == len(stream))]
            frames.append(majority(unfair, stream).assign(method="majority"))
        frame = pd.concat(frames, ignore_index=True).assign(
            dataset=self.dataset, preprocessing=self.preprocessing, rule=self.rule,
            **{name: getattr(self, name) for name in FURTHER_COLUMNS})
        if stands_in_for(self.dataset, stream):
            frame["stands_in_for"] = stands_in_for(self.dataset, stream)
        return frame[FIRST_COLUMNS + [name for name in frame if name not in FIRST_COLUMNS]]

    def learned(self, stream, method, on_chunk, on_record):
        """The records of every λ and seed."""
        grove = self.grove(stream)
        if method.alone:
            return self.one_by_one(lambda member: Race.between(method, grove.settings, member).records(
                stream, self.checkpoints(stream), on_chunk))
        if method.learner or (on_record and not self.held_out and not self.record_gradients):
            def run(member):
                learner = method.learner(member["seed"]) if method.learner else grove.single(**member)
                if on_record:
                    learner = Watched(learner, stream, self.checkpoints(stream), on_record)
                return learn_stream(learner, stream, checkpoints=self.checkpoints(stream), on_chunk=on_chunk).assign(
                    **member)
            return self.one_by_one(run)
        aside = None
        if self.held_out:
            stream, aside = stream.held_out(self.held_out)
        records = grove.fit(stream, checkpoints=self.checkpoints(stream), held_out=aside, on_chunk=on_chunk, verbose=0)
        return with_norms(records, grove.gradient_norms) if self.record_gradients else records

    def grove(self, stream):
        """The models, not trained yet."""
        method = METHODS[self.method]
        grove = ar.Grove(self.model_settings(stream, method), fairness_weights=self.fairness_weights, seeds=self.seeds,
                         model_class=method.model)
        grove.num_features = stream.num_features
        return grove

    def model_settings(self, stream, method):
        own = method.settings(stream, self.height)
        forest = {} if "predictor" in own else {"num_trees": self.num_trees, "height": self.height}
        return forest | RULES[self.rule] | {
            "decay": self.decay, "forget": self.forget, "chance": self.chance, "notion": self.notion,
            "update_when": self.update_when, "samples_per_step": self.samples_per_step,
            "record_gradients": self.record_gradients, "num_groups": stream.num_groups} | own

    def one_by_one(self, run):
        """The joined records of every λ and seed, each by itself."""
        members = itertools.product(self.fairness_weights, self.seeds)
        return pd.concat([run({"fairness_weight": weight, "seed": seed}) for weight, seed in members],
                         ignore_index=True)

    def checkpoints(self, stream):
        even = np.linspace(0, len(stream), self.even_checkpoints + 1)[1:] if self.even_checkpoints else []
        return sorted({*log_spaced(len(stream)), *np.round(even).astype(int).tolist()} - {0})


def with_all_settings(frame):
    """Records of an earlier version with the settings that came later; they had the default."""
    younger = [field for field in fields(Experiment) if field.name in FURTHER_COLUMNS and field.name not in frame]
    return frame.assign(**{field.name: np.nan if field.default is None else field.default for field in younger})


def with_norms(records, norms):
    """The records with the mean norm of each gradient since the checkpoint before.

    A step of the norms is the number of rows seen at its end. With many samples a step, none may have ended
    since the checkpoint before: then the record has no norm.
    """
    steps = np.sort(records["step"].unique())
    until = steps[np.searchsorted(steps, norms["step"]).clip(max=len(steps) - 1)]
    means = norms.assign(step=until).groupby(["fairness_weight", "seed", "step"], as_index=False).mean()
    return records.merge(means, how="left", on=["fairness_weight", "seed", "step"])
