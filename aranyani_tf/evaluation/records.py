"""What became of models along a stream: one tidy row for each model and checkpoint.

The stream is cut into segments at the checkpoints, at its half, and into twenty equal windows. Counts
are kept per segment, so everything that is reported is a sum of segments, and memory does not grow
with the stream.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError
from aranyani_tf.evaluation.tallies import tally_for

NUM_WINDOWS = 20
HEADLINE = ("accuracy", "mean_squared_error", "demographic_parity")  # these come first


def log_spaced(num_rows: int, first: int = 100, per_decade: int = 8) -> list[int]:
    """Checkpoints from `first` to the end, evenly spaced on a logarithmic axis.

    >>> log_spaced(1000, per_decade=2)
    [100, 316, 1000]
    """
    count = max(int(np.ceil(np.log10(max(num_rows / first, 1)) * per_decade)), 0) + 1
    points = np.geomspace(min(first, num_rows), num_rows, count).round().astype(int)
    return sorted({*points.tolist(), num_rows})


class StreamRecord:
    """Collects predictions in the order of the stream, and gives the records.

    Args:
        num_rows: length of the stream.
        num_models: how many models predict each row.
        num_labels, num_groups: 1 label is regression.
        positive_label: whose equal opportunity is reported.
        checkpoints: numbers of rows after which to report; log-spaced if not given. The end always is.
    """

    def __init__(self, num_rows: int, *, num_models: int = 1, num_labels: int = 2, num_groups: int = 2,
                 positive_label: int = 1, checkpoints: Sequence[int] | None = None) -> None:
        if checkpoints is not None and (isinstance(checkpoints, (str, bytes)) or not isinstance(checkpoints, Sequence)):
            raise ArgumentError(f"checkpoints must be a list of numbers of rows, got {checkpoints!r}")
        for checkpoint in checkpoints or ():
            require_whole("a checkpoint", checkpoint, 1, num_rows)
        self.checkpoints = sorted({*(checkpoints or log_spaced(num_rows)), num_rows})
        self.tally = tally_for(num_labels, num_groups, positive_label)
        self.windows = np.unique(np.round(np.linspace(0, num_rows, NUM_WINDOWS + 1)).astype(int))
        self.half = num_rows // 2
        self.ends = np.unique([*self.checkpoints, *self.windows[1:], self.half])
        self.ends = self.ends[self.ends > 0]  # where each segment ends
        self.num_models, self.num_seen = num_models, 0
        self.examined: list[dict[str, np.ndarray]] = []  # metrics on other rows, one entry a checkpoint
        self.tables = {name: np.zeros((len(self.ends), num_models, *shape))
                       for name, shape in self.tally.shapes().items()}

    def add(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> None:
        """The next rows: labels and groups (row,) or (row, model), outputs (row, model, label)."""
        labels, groups = per_model(labels, groups, outputs)
        start = 0
        while start < len(outputs):
            segment = np.searchsorted(self.ends, self.num_seen, side="right")
            stop = min(start + self.ends[segment] - self.num_seen, len(outputs))
            rows = slice(start, stop)
            for name, table in self.tally.tables(labels[rows], groups[rows], outputs[rows]).items():
                self.tables[name][segment] += table
            self.num_seen += stop - start
            start = stop

    @property
    def is_due(self) -> bool:
        """Whether a checkpoint was passed at which the models were not examined yet."""
        return bool(len(self.examined) < np.searchsorted(self.checkpoints, self.num_seen, side="right"))

    def examine(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> None:
        """What the models say now about rows that they do not learn from; the shapes are those of `add`."""
        found = self.tally.measured(self.tally.tables(*per_model(labels, groups, outputs), outputs))
        while self.is_due:
            self.examined.append({f"held_out_{name}": value for name, value in found.items()})

    def between(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """The tables of the rows from `start` to `stop`, which both end a segment."""
        first, last = np.searchsorted(self.ends, [start, stop], side="right")
        return {name: table[first:last].sum(axis=0) for name, table in self.tables.items()}

    def measured(self, stretches: Sequence[tuple[int, int]]) -> dict[str, np.ndarray]:
        """The metrics of several (start, stop), each (stretch, model).

        All at once, since to call TensorFlow takes longer than what is computed here.
        """
        if not stretches:
            return {}
        found = [self.between(*stretch) for stretch in stretches]
        return self.tally.measured({name: np.stack([tables[name] for tables in found]) for name in self.tables})

    def frame(self) -> pd.DataFrame:
        """One row a model and checkpoint: `model`, `step`, then the metrics.

        Metrics without a prefix are of all rows so far; `late_…` of those in the second half of the stream;
        `window_demographic_parity` is the mean over the windows that are complete, and have rows of two
        groups. NaN is what cannot be known.
        """
        gaps = self.measured(list(pairwise(self.windows)))["demographic_parity"]
        of_steps = self.measured([(0, step) for step in self.checkpoints])
        late_steps = [step for step in self.checkpoints if step > self.half]
        of_late = self.measured([(self.half, step) for step in late_steps])
        frames = []
        for index, step in enumerate(self.checkpoints):
            found = {name: values[index] for name, values in of_steps.items()}
            late = ({name: values[late_steps.index(step)] for name, values in of_late.items()}
                    if step > self.half else {})
            headline = [name for name in HEADLINE if name in found]
            complete = (self.windows[1:] <= step).sum()
            columns: dict[str, Any] = {"model": np.arange(self.num_models), "step": step}
            columns |= {name: found.pop(name) for name in headline}
            columns |= {f"late_{name}": late.get(name, np.nan) for name in headline}
            windows = mean_of_known(gaps[:complete]) if complete else np.nan
            # Where the gap of all rows is not known, the model has diverged, or never met two groups.
            unknown = np.isnan(columns["demographic_parity"])
            columns["window_demographic_parity"] = np.where(unknown, np.nan, windows)
            frames.append(pd.DataFrame(columns | found | (self.examined[index] if self.examined else {})))
        return pd.concat(frames).sort_values(["model", "step"]).reset_index(drop=True)


def mean_of_known(gaps: np.ndarray) -> np.ndarray:
    """The mean over windows, of those in which the groups can be compared: (window, model) → (model,)."""
    known = ~np.isnan(gaps)
    means = np.where(known, gaps, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known.any(axis=0), means, np.nan)


def per_model(labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and groups as (row, model), whether or not each model has an order of its own."""
    labels, groups = (np.broadcast_to(column if column.ndim == 2 else column[:, None], outputs.shape[:2])
                      for column in (labels, groups))
    return labels, groups
