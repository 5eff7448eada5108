"""One method over one stream of the field: what it is set to, by the first tenth of the rows, and what became of it.

Every candidate learns the first tenth alone (`field_choice`); those that are chosen begin again and learn all rows, of
which those behind the first tenth are judged.
"""

import quiet  # noqa: F401

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import aranyani_tf as ar
from harness.experiment_streams import load
from harness.experiments import COMPILING, Experiment
from harness.field_choice import Candidate, cases, choices, is_open
from harness.field_measures import columns, first_rows, measured, measured_first, state_bytes
from harness.field_streams import LONG, MOST_ROWS, every_kth, local_order
from harness.registry import Method, method
from harness.restart import Restart
from harness.timed import Timed

MEASURED = ("rows_per_second", "state_bytes")  # these differ from run to run, and from machine to machine
EACH = 0.012  # seconds to make a learner, and to count what it said
DISTINCT = {True: 0.75, False: 0.35}  # of the candidates that cases could have, about how many they do: with λ, without
BESIDE = 10  # features' worth of time that a row takes besides, by a `learner`


@dataclass(frozen=True)
class FieldRun(Experiment):
    """An experiment of the field; `rows` thins its stream by every k-th row, and cuts none off.

    Args:
        told: the notions that the method is told in turn; none if it cannot be told any.
        knob_values: those of the method's knob that are tried; none if it has no knob.
        all_judged: whether every candidate is run over all rows, and none is chosen.
    """

    told: tuple = ()
    knob_values: tuple = ()
    all_judged: bool = False

    def stream(self) -> ar.Stream:
        found = load(self.dataset, self.preprocessing, self.groups, self.drop_group)
        return every_kth(found, *((self.rows, self.rows) if self.rows else (MOST_ROWS, LONG)))

    def in_order_of(self, seed: int, stream: ar.Stream) -> ar.Stream:
        return stream[local_order(len(stream), seed)]

    @property
    def candidates(self) -> list[Candidate]:
        tried = itertools.product(self.knob_values or ("",), self.told or ("",), self.fairness_weights)
        return [Candidate(told, weight, value) for value, told, weight in tried]

    @property
    def learners(self) -> tuple[float, float]:
        """About how many learn the first tenth of a stream, and all of it, for one seed."""
        candidates, how = self.candidates, method(self.method)
        if self.all_judged or not is_open(candidates, how):
            return 0, len(candidates)
        found = list(cases(candidates, how))
        most = min(len(found), len({number for _, _, numbers in found for number in numbers}))
        share = 1.0 if how.steered else DISTINCT[len(self.fairness_weights) > 1]
        return len(candidates), max(1.0, share * most)

    @property
    def cost(self) -> float:
        """About how many seconds: to compile, to make every learner, and for its rows."""
        how, (short, whole) = method(self.method), self.learners
        stream = self.stream()
        size = stream.num_features + BESIDE if how.learner else stream.num_features * self.num_trees * 2**self.height
        learning = 1e-9 * how.nanoseconds * size * len(stream)
        return COMPILING * max(len(self.told), 1) * (how.learner is None) + len(self.seeds) * (
            EACH * sum(self.learners) + learning * (0.1 * short + whole))

    def run(self, on_chunk: Callable | None = None, on_record: Callable | None = None) -> pd.DataFrame:
        """A row for each seed and candidate: what it had on the first tenth, what it was chosen for, and what those
        that were chosen have on the rest."""
        stream, how, candidates = self.stream(), method(self.method), self.candidates
        short, whole = self.learners
        share = len(self.fairness_weights) / (0.1 * short + whole)  # of the work that the progress bar counts with

        def report(done: float) -> None:
            if on_chunk:
                on_chunk(share * done)

        found: list[dict[str, Any]] = []
        make = Makers(self, how)
        for seed in self.seeds:
            rows = self.in_order_of(seed, stream)  # one object for all, by which learners may know it
            first = rows[: first_rows(len(rows))]
            known = [each._asdict() | dict.fromkeys(columns(), np.nan) | {"chosen_for": ""} for each in candidates]
            for number, each in enumerate(candidates if short else []):
                known[number] |= measured_first(Timed(make(each, seed, first), 0).outputs(first, report), first)
            judged = dict.fromkeys(range(len(candidates)), "") if self.all_judged else choices(
                pd.DataFrame(known), candidates, how)
            for number, chosen_for in judged.items():
                learner = make(candidates[number], seed, rows)
                timed = Timed(learner, len(first))
                after = measured(timed.outputs(rows, report), rows)
                tried = {name: known[number][name] for name in measured_first(None, first)} if short else {}
                known[number] |= after | tried | {
                    "chosen_for": chosen_for, "rows_per_second": timed.rows_per_second,
                    "state_bytes": state_bytes(learner) if seed == self.seeds[0] else np.nan}
            found += [{"seed": seed, "rows": len(rows)} | each for each in known]
        order = ["seed", *Candidate._fields, "chosen_for", *columns(), "rows", *MEASURED]
        return pd.DataFrame(found, columns=order).assign(**{name: getattr(self, name) for name in (
            "dataset", "preprocessing", "drop_group", "method")}, groups=self.groups or "")

    def model_settings(self, stream: ar.Stream, how: Method) -> dict[str, Any]:
        """Nobody waits until every group was seen: the smallest of nine may come late, or never."""
        settings = super().model_settings(stream, how)
        return settings | ({"wait_for_all_groups": False} if "wait_for_all_groups" in settings else {})


class Makers:
    """New learners, one at a time: models begin again with what was compiled once, and weights once for each seed."""

    def __init__(self, run: FieldRun, how: Method):
        self.run, self.how = run, how
        self.restarts: dict[str, Restart] = {}
        self.starts: dict[tuple[str, int], ar.Aranyani] = {}

    def __call__(self, candidate: Candidate, seed: int, rows: ar.Stream) -> Any:
        value = candidate.knob_value if self.run.knob_values else None
        own = replace(self.run, notion=candidate.told) if candidate.told else self.run
        if self.how.learner:
            return self.how.make(rows, seed, candidate.fairness_weight, own.notion, value)
        key = (candidate.told, seed)
        if key not in self.starts:
            self.starts = {each: start for each, start in self.starts.items() if each[1] == seed}
            self.starts[key] = own.single(rows, seed=seed, fairness_weight=candidate.fairness_weight)
        if candidate.told not in self.restarts:
            self.restarts[candidate.told] = Restart(
                own.single(rows, seed=seed, fairness_weight=candidate.fairness_weight), rows.num_features)
        return self.restarts[candidate.told].again(self.starts[key], candidate.fairness_weight, value)


def cannot(how: Method, stream: ar.Stream, notion: str) -> str | None:
    """Why a method cannot do a stream, or None if it can."""
    most = how.num_groups
    if most is None and how.learner and stream.num_groups > 2:
        most = getattr(how.make(stream, 0, how.fairness_weights[0], notion), "num_groups", None)
    if most is not None and most < stream.num_groups:
        return f"it tells {most} groups apart, and there are {stream.num_groups}"
    return None
