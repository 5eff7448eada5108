"""Any learner through a stream, with the records of what it said."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_object, require_whole
from aranyani_tf.errors import ArgumentError, DivergedError
from aranyani_tf.evaluation.records import StreamRecord
from aranyani_tf.interfaces import StreamLearner
from aranyani_tf.streams.row_rules import RowRules
from aranyani_tf.streams.stream import Stream


def learn_stream(learner: StreamLearner, stream: Stream, *, checkpoints: Sequence[int] | None = None,
                 chunk_size: int = 1024, on_chunk: Callable[[int], None] | None = None) -> pd.DataFrame:
    """Takes any learner through a stream, and gives its records: `step`, then the metrics.

    Args:
        learner: with `predict_then_learn(x, y, a)`, which gives (n, label): what it said about each row
            before it learned from it. `Aranyani` is one, and so are all baselines.
        on_chunk: called with the number of rows of each piece of work that is done.
    """
    require_object("learner", learner, ["predict_then_learn"], "a model")
    if not isinstance(stream, Stream):
        raise ArgumentError(f"stream must be a Stream, got {type(stream).__name__}")
    require_whole("chunk_size", chunk_size, 1)
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
        labels = labels if num_labels == 1 else labels.astype(np.int32)
        record.add(labels, groups.astype(np.int32), outputs[:, None])
        if on_chunk:
            on_chunk(len(piece))
    if skipped:
        warnings.warn(f"skipped {skipped:,} of {len(stream):,} rows; the first: {first}", stacklevel=2)
    return record.frame().drop(columns="model")
