"""A learner through a stream: what it said, and how fast it was."""

import quiet  # noqa: F401

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import aranyani_tf as ar
from aranyani_tf.errors import DivergedError

CHUNK = 1024  # rows that are handed over at once


class Timed:
    """What a learner says of a stream, without the records of `learn_stream`, which take longer than many a learner.

    Args:
        learner: with `predict_then_learn`, which looks after bad rows itself.
        skipped: rows at first that are not timed, since they compile much.
    """

    def __init__(self, learner: Any, skipped: int):
        self.learner, self.skipped, self.num_seen, self.num_timed, self.seconds = learner, skipped, 0, 0, 0.0

    def outputs(self, rows: ar.Stream, report: Callable[[float], Any]) -> np.ndarray | None:
        """(row, label), or None if the learner has diverged."""
        said = []
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="too few rows to tell")  # such groups are not compared
            for start in range(0, len(rows), CHUNK):
                piece = slice(start, start + CHUNK)
                try:
                    said.append(self.said(rows.features[piece], rows.labels[piece], rows.groups[piece]))
                except DivergedError:
                    said.append(np.full((1, 1), np.nan))
                if np.isnan(said[-1]).any():
                    report(len(rows) - start)
                    return None
                report(len(said[-1]))
        return np.concatenate(said)

    def said(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        begin = time.process_time()
        outputs = np.asarray(self.learner.predict_then_learn(x, y, a))
        if self.num_seen >= self.skipped:
            self.seconds += time.process_time() - begin
            self.num_timed += len(y)
        self.num_seen += len(y)
        return outputs

    @property
    def rows_per_second(self) -> float:
        return self.num_timed / self.seconds if self.seconds > 0 else np.nan
