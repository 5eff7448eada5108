"""One method over one stream of the field: every λ or target, notion and seed, and what became of each.

Which λ is judged is settled afterwards, by the first tenth of the stream (`field_table`); the run of a λ is the same
for all targets, so that each is made once.
"""

import quiet  # noqa: F401

import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.errors import DivergedError
from aranyani_tf.evaluation.learn_stream import learn_stream
from harness.experiment_streams import load
from harness.experiments import Experiment
from harness.field_measures import first_rows, measured, state_bytes
from harness.field_streams import LONG, MOST_ROWS, every_kth, local_order
from harness.registry import Method, method
from harness.restart import Restart

MEASURED = ("rows_per_second", "state_bytes")  # these differ from run to run, and from machine to machine


@dataclass(frozen=True)
class FieldRun(Experiment):
    """An experiment of the field; `rows` thins its stream by every k-th row, and cuts none off.

    Args:
        told: the notions that the method is told in turn; none if it cannot be told any.
    """

    told: tuple = ()

    def stream(self) -> ar.Stream:
        found = load(self.dataset, self.preprocessing, self.groups)
        return every_kth(found, *((self.rows, self.rows) if self.rows else (MOST_ROWS, LONG)))

    def in_order_of(self, seed: int, stream: ar.Stream) -> ar.Stream:
        return stream[local_order(len(stream), seed)]

    @property
    def cost(self) -> float:
        """About how many seconds: of all notions, each with the time to compile."""
        notions = max(len(self.told), 1)
        return notions * super().cost

    def run(self, on_chunk: Callable | None = None, on_record: Callable | None = None) -> pd.DataFrame:
        """A row for each seed, notion told and λ: accuracy and gaps on the first tenth and on the rest."""
        stream, how, found = self.stream(), method(self.method), []
        report = on_chunk or (lambda rows: None)
        by_notion = {notion: replace(self, notion=notion) if notion else self for notion in self.told or ("",)}
        restarts: dict[str, Restart] = {}
        for seed in self.seeds:
            rows = self.in_order_of(seed, stream)  # one object for all, by which learners may know it
            for (notion, own), weight in itertools.product(by_notion.items(), self.fairness_weights):
                if how.learner:
                    learner = how.make(rows, seed, weight, own.notion)
                else:
                    start = own.single(rows, seed=seed, fairness_weight=weight)
                    if notion not in restarts:
                        restarts[notion] = Restart(own.single(rows, seed=seed, fairness_weight=weight),
                                                   rows.num_features)
                    learner = restarts[notion].again(start, weight)
                timed = Timed(learner, first_rows(len(rows)))
                outputs = timed.outputs(rows, lambda done: report(done / len(by_notion)))
                found.append({"seed": seed, "told": notion, "fairness_weight": weight} | measured(outputs, rows) | {
                    "rows": len(rows), "rows_per_second": timed.rows_per_second,
                    "state_bytes": state_bytes(learner) if seed == self.seeds[0] else np.nan})
        return pd.DataFrame(found).assign(**{name: getattr(self, name) or "" for name in (
            "dataset", "preprocessing", "groups", "method")})

    def model_settings(self, stream: ar.Stream, how: Method) -> dict[str, Any]:
        """Nobody waits until every group was seen: the smallest of nine may come late, or never."""
        settings = super().model_settings(stream, how)
        return settings | ({"wait_for_all_groups": False} if "wait_for_all_groups" in settings else {})


class Timed:
    """A learner through a stream: what it said, and how fast it was behind the first rows, which compile much."""

    def __init__(self, learner: Any, skipped: int):
        self.learner, self.skipped, self.said, self.num_timed, self.seconds = learner, skipped, [], 0, 0.0
        self.num_seen = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        begin = time.process_time()
        outputs = np.asarray(self.learner.predict_then_learn(x, y, a))
        if self.num_seen >= self.skipped:
            self.seconds += time.process_time() - begin
            self.num_timed += len(y)
        self.num_seen += len(y)
        self.said.append(outputs)
        return outputs

    def outputs(self, rows: ar.Stream, report: Callable[[float], Any]) -> np.ndarray | None:
        """(row, label), or None if the learner has diverged."""
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="too few rows to tell")  # such groups are not compared
                learn_stream(self, rows, checkpoints=[len(rows)], on_chunk=report)
        except DivergedError:
            report(len(rows) - self.num_seen)
            return None
        return np.concatenate(self.said)

    @property
    def rows_per_second(self) -> float:
        return self.num_timed / self.seconds if self.seconds > 0 else np.nan


def cannot(how: Method, stream: ar.Stream, notion: str) -> str | None:
    """Why a method cannot do a stream, or None if it can."""
    most = how.num_groups
    if most is None and how.learner and stream.num_groups > 2:
        most = getattr(how.make(stream, 0, how.fairness_weights[0], notion), "num_groups", None)
    if most is not None and most < stream.num_groups:
        return f"it tells {most} groups apart, and there are {stream.num_groups}"
    return None


