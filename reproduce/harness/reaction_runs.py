"""One reaction over one stream that changes, and what is recorded of it along the way."""

import quiet  # noqa: F401

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.datasets.acs_employment import acs_employment_table
from harness.experiment_streams import load
from harness.experiments import Experiment
from harness.grids import available
from harness.reaction_measures import WIDE, WINDOW, is_false, rows_to_recover, share_above, sliding, split_of_labels
from harness.registry import method
from harness.scales import FIVE, FULL, Scale
from harness.timed import Timed

STREAMS: dict[str, dict[str, Any]] = {
    "Synthetic, groups swap": {"dataset": "synthetic", "order": "drift"},
    "Bank by date, below 25": {"dataset": "bank", "preprocessing": "one_hot", "groups": "age"},
    "ACS by year, disability": {"dataset": "acs_employment", "preprocessing": "one_hot", "groups": "disability"}}
REACTIONS = ("react_without", "react_never", "react_decay_1", "react_decay_3", "react_decay_10", "react_target",
             "react_adwin_error", "react_adwin_gap")
MOST_ROWS, LONG = 25_000, 50_000  # a stream of more rows than the second is thinned to at most the first
COLUMNS = ("dataset", "preprocessing", "groups", "order", "method", "rule")


def reactions(scale: Scale = FULL) -> list["ReactionRun"]:
    """Every reaction on every stream whose data is here."""
    found = []
    for settings in STREAMS.values():
        if not available(settings["dataset"]):
            print(f"left out, since its data is not here and could not be fetched: {settings['dataset']}",
                  file=sys.stderr)
            continue
        found += [ReactionRun(fairness_weights=method(name).fairness_weights, seeds=FIVE[: len(scale.seeds)],
                              method=name, rule="none", rows=scale.most_rows, **settings) for name in REACTIONS]
    return found


@dataclass(frozen=True)
class ReactionRun(Experiment):
    """An experiment with records every `WINDOW` rows, counted anew from each change.

    `rows` thins a stream by every k-th row, and cuts none off; the synthetic one is drawn anew for every seed.
    """

    @property
    def step(self) -> int:
        """Every how many rows of the file there is one."""
        rows = len(load(self.dataset, self.preprocessing, self.groups))
        most, long = (self.rows, self.rows) if self.rows else (MOST_ROWS, LONG)
        return 1 if rows <= long else -(-rows // most)

    def stream(self) -> ar.Stream:
        return super().stream() if self.order == "drift" else load(
            self.dataset, self.preprocessing, self.groups)[:: self.step]

    def in_order_of(self, seed: int, stream: ar.Stream) -> ar.Stream:
        return stream if self.order != "drift" else ar.datasets.load(
            self.dataset, num_rows=len(stream), drift_at=0.5, seed=seed)

    def changes(self, stream: ar.Stream) -> np.ndarray:
        """The first row behind each change: the swap, the jump of the label's rate, or a new year."""
        if self.order == "drift":
            return np.array([len(stream) // 2])
        if self.dataset == "bank":
            return np.array([split_of_labels(stream.labels)])
        return -(-first_rows_of_years() // self.step)

    def run(self, on_chunk: Callable | None = None, on_record: Callable | None = None) -> pd.DataFrame:
        stream, how, frames = self.stream(), method(self.method), []
        for weight in self.fairness_weights:
            for seed in self.seeds:
                rows = self.in_order_of(seed, stream)
                learner = how.make(rows, seed, weight)
                outputs = Timed(learner, 0).outputs(rows, on_chunk or (lambda done: None))
                assert outputs is not None, "none of these diverges with a λ of 1"
                frames.append(recorded(outputs.argmax(axis=1), rows, self.changes(rows), np.array(
                    getattr(learner, "alarms", []), int)).assign(fairness_weight=weight, seed=seed))
        frame = pd.concat(frames, ignore_index=True).assign(**{name: getattr(self, name) for name in COLUMNS})
        first = [*COLUMNS, "fairness_weight", "seed"]
        return frame[[*first, *(name for name in frame if name not in first)]]


@cache
def first_rows_of_years() -> np.ndarray:
    """Where a year begins in ACS Employment, but for the first one."""
    years = acs_employment_table()["year"].to_numpy()
    return np.flatnonzero(np.diff(years)) + 1


def recorded(decisions: np.ndarray, rows: ar.Stream, changes: np.ndarray, alarms: np.ndarray) -> pd.DataFrame:
    """A record for each window: what was so far, in the window, and since the last change.

    `change` is the first row behind the last change, `since` counts from there; `recovered` and `recovered_wide` tell
    in how many rows the windows of `WINDOW` and `WIDE` rows came back from it, empty for never; `share_above` how much
    of the time behind it the wide ones were above the level.
    """
    narrow, wide = (sliding(decisions, rows.groups, size) for size in (WINDOW, WIDE))
    whole = sliding(decisions, rows.groups, len(rows))
    correct = np.cumsum(decisions == rows.labels)
    false = alarms[is_false(alarms, changes)]
    found, borders = [], [0, *changes.tolist(), len(rows)]
    for begin, end in pairwise(borders):
        of_change = {} if begin == 0 else {
            "change": begin, "recovered": rows_to_recover(narrow.gap, begin, end, WINDOW),
            "recovered_wide": rows_to_recover(wide.gap, begin, end, WIDE),
            "share_above": share_above(wide.gap, begin, end)}
        for step in sorted({*range(begin + WINDOW, end + 1, WINDOW), end}):
            last = step - 1
            found.append({
                "step": step, "accuracy": correct[last] / step, "demographic_parity": whole.gap[last],
                "window_gap": narrow.gap[last], "window_by_chance": narrow.by_chance[last],
                "wide_gap": wide.gap[last], "wide_by_chance": wide.by_chance[last],
                "alarms": (alarms < step).sum(), "false_alarms": (false < step).sum(), "since": step - begin,
                "change": np.nan, "recovered": np.nan, "recovered_wide": np.nan, "share_above": np.nan} | of_change)
    return pd.DataFrame(found)
