"""What became of models along a stream: one tidy row for each model and checkpoint.

The stream is cut into segments at the checkpoints, at its half, and into twenty equal windows. Counts
are kept per segment, so everything that is reported is a sum of segments, and memory does not grow
with the stream.
"""

import warnings

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import DivergedError
from aranyani_tf.evaluation import metrics
from aranyani_tf.streams.row_rules import RowRules

NUM_WINDOWS = 20


def log_spaced(num_rows, first=100, per_decade=8):
    """Checkpoints from `first` to the end, evenly spaced on a logarithmic axis.

    >>> log_spaced(1000, per_decade=2)
    [100, 316, 1000]
    """
    count = max(int(np.ceil(np.log10(max(num_rows / first, 1)) * per_decade)), 0) + 1
    points = np.geomspace(min(first, num_rows), num_rows, count).round().astype(int)
    return sorted({*points.tolist(), num_rows})


class ClassTally:
    """Tables of a classifier's predictions, and what can be told from them."""

    def __init__(self, num_labels, num_groups, positive_label=1):
        self.num_labels, self.num_groups, self.positive_label = num_labels, num_groups, positive_label

    def shapes(self):
        return {"counts": (self.num_labels + 1, self.num_groups + 1, self.num_labels),
                "sums": (self.num_groups, self.num_labels)}

    def tables(self, labels, groups, outputs):
        """(row, model), (row, model), (row, model, label) → counts and sums, model first.

        The counts are those of `metrics.tally`; NumPy does a few thousand rows sooner.
        """
        num_models, (wide, deep, long) = labels.shape[1], self.shapes()["counts"]
        label, group = np.where(labels >= 0, labels, wide - 1), np.where(groups >= 0, groups, deep - 1)
        cell = ((np.arange(num_models) * wide + label) * deep + group) * long + outputs.argmax(axis=-1)
        counted = (labels >= 0) | (groups >= 0)
        counts = np.bincount(cell[counted], minlength=num_models * wide * deep * long).astype("float64")
        answered = np.isfinite(outputs).all(axis=(0, 2))  # a model that said NaN has no metrics from there on
        in_group = groups[:, :, None] == np.arange(self.num_groups)  # (row, model, group)
        return {"counts": np.where(answered[:, None, None, None], counts.reshape(num_models, wide, deep, long), np.nan),
                "sums": np.einsum("nmg,nml->mgl", in_group.astype("float64"), outputs)}

    def measured(self, tables):
        """Every metric, for tables with any leading axes."""
        counts = tables["counts"]
        group_count = counts.sum(axis=(-3, -1))[..., :-1]
        found = {"accuracy": metrics.accuracy(counts),
                 "demographic_parity": metrics.demographic_parity(counts),
                 "soft_demographic_parity": metrics.soft_demographic_parity(tables["sums"], group_count),
                 "equal_opportunity": metrics.equal_opportunity(counts, self.positive_label),
                 "equalized_odds": metrics.equalized_odds(counts)}
        return {name: value.numpy() for name, value in found.items()}


class RegressionTally:
    """Sums of squared errors and of predictions."""

    def __init__(self, num_groups):
        self.num_groups = num_groups

    def shapes(self):
        return {"errors": (2,), "sums": (self.num_groups, 2)}

    def tables(self, labels, groups, outputs):
        values, known = outputs[:, :, 0].astype("float64"), np.isfinite(labels)
        errors = np.where(known, labels - values, 0) ** 2
        in_group = groups[:, :, None] == np.arange(self.num_groups)  # (row, model, group)
        return {"errors": np.stack([errors.sum(axis=0), known.sum(axis=0)], axis=-1),
                "sums": np.stack([np.where(in_group, values[:, :, None], 0).sum(axis=0), in_group.sum(axis=0)],
                                 axis=-1)}

    def measured(self, tables):
        errors, sums = tables["errors"], tables["sums"]
        gap = metrics.soft_demographic_parity(sums[..., :1], sums[..., 1])
        return {"mean_squared_error": metrics.ratio(errors[..., 0], errors[..., 1]).numpy(),
                "demographic_parity": gap.numpy()}


class StreamRecord:
    """Collects predictions in the order of the stream, and gives the records.

    Args:
        num_rows: length of the stream.
        num_models: how many models predict each row.
        num_labels, num_groups: 1 label is regression.
        positive_label: whose equal opportunity is reported.
        checkpoints: numbers of rows after which to report; log-spaced if not given. The end always is.
    """

    def __init__(self, num_rows, *, num_models=1, num_labels=2, num_groups=2, positive_label=1, checkpoints=None):
        for checkpoint in checkpoints or ():
            require_whole("a checkpoint", checkpoint, 1, num_rows)
        self.checkpoints = sorted({*(checkpoints or log_spaced(num_rows)), num_rows})
        self.tally = (RegressionTally(num_groups) if num_labels == 1
                      else ClassTally(num_labels, num_groups, positive_label))
        self.windows = np.unique(np.round(np.linspace(0, num_rows, NUM_WINDOWS + 1)).astype(int))
        self.half = num_rows // 2
        self.ends = np.unique([*self.checkpoints, *self.windows[1:], self.half])
        self.ends = self.ends[self.ends > 0]  # where each segment ends
        self.num_models, self.num_seen = num_models, 0
        self.examined = []  # metrics on other rows, one entry a checkpoint
        self.tables = {name: np.zeros((len(self.ends), num_models, *shape))
                       for name, shape in self.tally.shapes().items()}

    def add(self, labels, groups, outputs):
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
    def is_due(self):
        """Whether a checkpoint was passed at which the models were not examined yet."""
        return len(self.examined) < np.searchsorted(self.checkpoints, self.num_seen, side="right")

    def examine(self, labels, groups, outputs):
        """What the models say now about rows that they do not learn from; the shapes are those of `add`."""
        found = self.tally.measured(self.tally.tables(*per_model(labels, groups, outputs), outputs))
        while self.is_due:
            self.examined.append({f"held_out_{name}": value for name, value in found.items()})

    def between(self, start, stop):
        """The tables of the rows from `start` to `stop`, which both end a segment."""
        first, last = np.searchsorted(self.ends, [start, stop], side="right")
        return {name: table[first:last].sum(axis=0) for name, table in self.tables.items()}

    def frame(self):
        """One row a model and checkpoint: `model`, `step`, then the metrics.

        Metrics without a prefix are of all rows so far; `late_…` of those in the second half of the
        stream; `window_demographic_parity` is the mean over the windows that are complete, and have rows of two
        groups. NaN is what cannot be known.
        """
        gaps = [self.tally.measured(self.between(*window))["demographic_parity"]
                for window in zip(self.windows[:-1], self.windows[1:], strict=True)]
        frames = []
        for index, step in enumerate(self.checkpoints):
            found = self.tally.measured(self.between(0, step))
            late = self.tally.measured(self.between(self.half, step)) if step > self.half else {}
            headline = [name for name in ("accuracy", "mean_squared_error", "demographic_parity") if name in found]
            complete = (self.windows[1:] <= step).sum()
            columns = {"model": np.arange(self.num_models), "step": step}
            columns |= {name: found.pop(name) for name in headline}
            columns |= {f"late_{name}": late.get(name, np.nan) for name in headline}
            windows = mean_of_known(gaps[:complete]) if complete else np.nan
            # Where the gap of all rows is not known, the model has diverged, or never met two groups.
            columns["window_demographic_parity"] = np.where(np.isnan(columns["demographic_parity"]), np.nan, windows)
            frames.append(pd.DataFrame(columns | found | (self.examined[index] if self.examined else {})))
        return pd.concat(frames).sort_values(["model", "step"]).reset_index(drop=True)


def mean_of_known(gaps):
    """The mean over windows, of those in which the groups can be compared: (window, model) → (model,)."""
    gaps = np.array(gaps)
    known = ~np.isnan(gaps)
    return np.where(known.any(axis=0), np.where(known, gaps, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)


def per_model(labels, groups, outputs):
    """Labels and groups as (row, model), whether or not each model has an order of its own."""
    return tuple(np.broadcast_to(column if column.ndim == 2 else column[:, None], outputs.shape[:2])
                 for column in (labels, groups))


def learn_stream(learner, stream, *, checkpoints=None, chunk_size=1024, on_chunk=None):
    """Takes any learner through a stream, and gives its records: `step`, then the metrics.

    Args:
        learner: with `predict_then_learn(x, y, a)`, which gives (n, label): what it said about each row
            before it learned from it. `Aranyani` is one, and so are all baselines.
        on_chunk: called with the number of rows of each piece of work that is done.
    """
    num_labels = getattr(learner, "num_labels", stream.num_labels)
    num_groups = getattr(learner, "num_groups", stream.num_groups)
    rules = RowRules(stream.num_features, num_labels, num_groups, feature_names=stream.feature_names,
                     dtype=getattr(learner, "compute_dtype", stream.features.dtype.name),
                     on_bad_rows=getattr(learner, "on_bad_rows", "raise"))
    record = StreamRecord(len(stream), num_labels=num_labels, num_groups=num_groups, checkpoints=checkpoints,
                          positive_label=getattr(learner, "positive_label", 1))
    samples_per_step = getattr(learner, "samples_per_step", 1)
    chunk_size = max(chunk_size // samples_per_step, 1) * samples_per_step  # whole steps
    skipped, first = 0, None
    for start in range(0, len(stream), chunk_size):
        piece = stream[start : start + chunk_size]
        rows = rules.convert(piece.features, piece.labels, piece.groups)
        bad, problem = rules.problems(*rows)  # before the learner sees any of them
        if problem:
            first = first or f"row {start + problem[0]:,}: {problem[1]}"
            rules.complain(first)
            skipped += bad.sum()
        outputs = np.zeros((len(bad), num_labels))
        labels = np.full(len(bad), np.nan if num_labels == 1 else -1)
        groups = np.full(len(bad), -1)
        if not bad.all():
            good = rules.good_rows(bad, *rows)
            said = np.asarray(learner.predict_then_learn(*good))
            outputs[~bad], labels[~bad], groups[~bad] = said, *good[1:]
            if np.isnan(said).any():
                row = int(np.flatnonzero(~bad)[np.argmax(np.isnan(said).any(axis=1))])
                raise DivergedError(f"row {start + row:,}: the learner said NaN; it has diverged")
        record.add(labels if num_labels == 1 else labels.astype(np.int32), groups.astype(np.int32), outputs[:, None])
        if on_chunk:
            on_chunk(len(piece))
    if skipped:
        warnings.warn(f"skipped {skipped:,} of {len(stream):,} rows; the first: {first}", stacklevel=2)
    return record.frame().drop(columns="model")
