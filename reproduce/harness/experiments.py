"""Settings in, records out: one tidy row for each dataset, method, setting, seed and checkpoint.

An `Experiment` is one grid of λ and seeds over one stream; `runner.run_all` runs many of them.
"""

import quiet  # noqa: F401

import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.arguments import require_choice, require_fairness_weight
from aranyani_tf.baselines.majority import majority
from aranyani_tf.errors import ArgumentError
from aranyani_tf.evaluation.learn_stream import learn_stream
from aranyani_tf.evaluation.records import log_spaced
from harness import fingerprints
from harness.experiment_streams import load, stands_in_for, thinned
from harness.race import Race
from harness.registry import Method, method, methods, rules
from harness.settings import CURVE, FIRST_COLUMNS, FURTHER_SETTINGS, OF_MODEL, ORDERS, Settings
from harness.watched import Watched

COMPILING = 4  # seconds
Member = dict[str, Any]  # the λ and seed of one model: {"fairness_weight": …, "seed": …}


@dataclass(frozen=True)
class Experiment(Settings):
    """A grid of λ and seeds over one stream; the settings are those of `Settings`."""

    def __post_init__(self):
        require_choice("method", self.method, tuple(methods()))  # an extension may bring a rule or a dataset too
        require_choice("rule", self.rule, tuple(rules()))
        require_choice("dataset", self.dataset, ar.datasets.names())
        require_choice("order", self.order, ORDERS)
        for weight in self.fairness_weights:
            require_fairness_weight(weight)
        if self.order == "drift" and self.dataset != "synthetic":
            raise ArgumentError(f"order='drift' is for the dataset 'synthetic'; got {self.dataset!r}")
        unused = {field.name: (field.default,) for field in fields(self)} | {
            "fairness_weights": ((0.0,),), "rule": ("none", "released")}
        ignored = [f"{name}={getattr(self, name)!r}" for name in method(self.method).ignores
                   if getattr(self, name) not in unused[name]]
        if ignored:
            hint = " (the weight of fairness is 0 there)" if "fairness_weights" in method(self.method).ignores else ""
            raise ArgumentError(f"{', '.join(ignored)} has no effect on the method {self.method!r}; leave it out{hint}")

    def stream(self) -> ar.Stream:
        """The rows, of which `order="shuffled"` gives every seed another order: see `in_order_of`."""
        if self.order == "drift":
            stream = ar.datasets.load(self.dataset, num_rows=self.rows or 20_000, drift_at=0.5)
        else:
            stream = load(self.dataset, self.preprocessing, self.groups, self.drop_group)[: self.rows]
        if self.share is not None:
            stream = thinned(stream, self.share)
        if self.order in ("majority_first", "minority_first"):
            stream = stream.adversarial(first=self.order.removesuffix("_first"))
        return stream.fraction(self.fraction)

    def in_order_of(self, seed: int, stream: ar.Stream) -> ar.Stream:
        return stream.shuffled(seed) if self.order == "shuffled" else stream

    @property
    def cost(self) -> float:
        """About how many seconds it takes on one core: some to compile, then the same for every row and model."""
        stream, how = self.stream(), method(self.method)
        size = stream.num_features * (1 if how.learner else self.num_trees * 2**self.height)
        models = len(self.fairness_weights) * len(self.seeds)
        return COMPILING * (how.learner is None) + 1e-9 * how.nanoseconds * size * len(stream) * models

    @property
    def key(self) -> str:
        """Changes with the settings, the code, its libraries and the data, as `fingerprints` tells."""
        code = fingerprints.of_code(self.method, self.dataset, self.rule, type(self).__module__)
        known = [json.dumps(asdict(self), sort_keys=True), code, fingerprints.of_data(self.dataset)]
        return hashlib.sha256(" ".join(known).encode()).hexdigest()[:16]

    def run(self, on_chunk: Callable | None = None, on_record: Callable | None = None) -> pd.DataFrame:
        """The records of this grid, and of Majority, which the runs with λ = 0 give for free.

        Args:
            on_chunk: called with the number of rows, times models, of each piece of work that is done.
            on_record: called with records as they come, if the method and its settings allow that; the models
                are then trained one by one.
        """
        stream = self.stream()
        records = self.learned(stream, method(self.method), on_chunk, on_record)
        frames = [records.assign(method=self.method)]
        plain = (self.method, self.rule, self.decay, self.chance) == ("aranyani", "released", None, 0.0)
        if plain and 0.0 in self.fairness_weights and not self.held_out:
            unfair = records[(records["fairness_weight"] == 0) & (records["step"] == len(stream))]
            frames += [majority(own, self.in_order_of(seed, stream)).assign(method="majority")
                       for seed, own in (unfair.groupby("seed") if self.order == "shuffled" else [(0, unfair)])]
        frame = pd.concat(frames, ignore_index=True).assign(
            **{name: getattr(self, name) for name in CURVE if name != "method"})
        if stands_in_for(self.dataset, stream):
            frame["stands_in_for"] = stands_in_for(self.dataset, stream)
        return frame[[*FIRST_COLUMNS, *(name for name in frame if name not in FIRST_COLUMNS)]]

    def learned(self, stream: ar.Stream, how: Method, on_chunk: Callable | None,
                on_record: Callable | None) -> pd.DataFrame:
        """The records of every λ and seed."""
        if how.alone:
            settings = self.model_settings(stream, how)
            return self.one_by_one(lambda member: Race.between(how, settings, member).records(
                self.in_order_of(member["seed"], stream), self.checkpoints(stream), on_chunk))
        if how.learner or (on_record and not self.held_out and not self.record_gradients):
            def run(member: Member) -> pd.DataFrame:
                learner, rows = self.single(stream, **member), self.in_order_of(member["seed"], stream)
                if on_record:
                    learner = Watched(learner, rows, self.checkpoints(stream), on_record)
                return learn_stream(learner, rows, checkpoints=self.checkpoints(stream), on_chunk=on_chunk).assign(
                    **member)
            return self.one_by_one(run)
        grove, aside = self.grove(stream), None
        if self.held_out:
            stream, aside = stream.held_out(self.held_out)
        records = grove.fit(stream, shuffle=self.order == "shuffled", checkpoints=self.checkpoints(stream),
                            held_out=aside, on_chunk=on_chunk, verbose=0)
        if aside is not None:  # for Majority there, whose answers lie between the model's and the constant one
            records["held_out_majority"] = np.bincount(aside.labels).max() / len(aside)
        return with_norms(records, grove.gradient_norms) if self.record_gradients else records

    def single(self, stream: ar.Stream, *, fairness_weight: float, seed: int) -> Any:
        """The learner of one λ and seed, not trained yet."""
        how = method(self.method)
        if how.learner:
            return how.make(stream, seed, fairness_weight, self.notion)
        return self.grove(stream).single(fairness_weight=fairness_weight, seed=seed)

    def grove(self, stream: ar.Stream) -> ar.Grove:
        """The models, not trained yet."""
        how = method(self.method)
        grove = ar.Grove(self.model_settings(stream, how), fairness_weights=self.fairness_weights, seeds=self.seeds,
                         model_class=how.model)
        grove.num_features = stream.num_features
        return grove

    def model_settings(self, stream: ar.Stream, how: Method) -> dict[str, Any]:
        own = how.settings(stream, self.height)
        no_forest = ("num_trees", "height") if "predictor" in own else ()
        return rules()[self.rule].settings | {
            name: getattr(self, name) for name in OF_MODEL if name not in no_forest} | {
            "num_groups": stream.num_groups} | own

    def one_by_one(self, run: Callable[[Member], pd.DataFrame]) -> pd.DataFrame:
        """The joined records of every λ and seed, each by itself."""
        members = itertools.product(self.fairness_weights, self.seeds)
        return pd.concat([run({"fairness_weight": weight, "seed": seed}) for weight, seed in members],
                         ignore_index=True)

    def checkpoints(self, stream: ar.Stream) -> list[int]:
        even = np.linspace(0, len(stream), self.even_checkpoints + 1)[1:] if self.even_checkpoints else []
        return sorted({*log_spaced(len(stream)), *np.round(even).astype(int).tolist()} - {0})


def with_all_settings(frame: pd.DataFrame) -> pd.DataFrame:
    """Records of an earlier version with the settings that came later; they had the default."""
    younger = [field for field in fields(Settings) if field.name in FURTHER_SETTINGS and field.name not in frame]
    return frame.assign(**{field.name: np.nan if field.default is None else field.default for field in younger})


def with_norms(records: pd.DataFrame, norms: pd.DataFrame) -> pd.DataFrame:
    """The records with the mean norm of each gradient since the checkpoint before.

    A step of the norms is the number of rows seen at its end. With many samples a step, none may have ended
    since the checkpoint before: then the record has no norm.
    """
    steps = np.sort(records["step"].unique())
    until = steps[np.searchsorted(steps, norms["step"]).clip(max=len(steps) - 1)]
    means = norms.assign(step=until).groupby(["fairness_weight", "seed", "step"], as_index=False).mean()
    return records.merge(means, how="left", on=["fairness_weight", "seed", "step"])
