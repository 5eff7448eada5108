"""Majority: the model's prediction with probability p, the more frequent label otherwise.

What is drawn for a row is independent of the row, so with the majority label of the whole stream the
expected accuracy and gaps are linear in p, and known from one run of the model: `majority` draws and
trains nothing. `MajorityLearner` does draw, and can do with the past alone.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.interfaces import StreamLearner
from aranyani_tf.streams.stream import Stream

PROBABILITIES = tuple(np.round(np.linspace(0, 1, 11), 1).tolist())


class MajorityLearner:
    """The baseline as a learner: the majority label is that of the past, or a given one.

    Args:
        learner: whose answer is kept with probability p; it learns from every row.
        probability: p.
        label: the majority label of the whole stream, as in the paper; None counts the past only.
        seed: of the draws.
    """

    def __init__(self, learner: StreamLearner, probability: float, *, label: int | None = None,
                 num_labels: int = 2, seed: int | None = 0) -> None:
        if not 0 <= probability <= 1:
            raise ArgumentError(f"probability must lie between 0 and 1, got {probability}")
        self.learner, self.probability, self.label = learner, probability, label
        self.counts, self.random = np.zeros(num_labels), np.random.default_rng(seed)

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        outputs = np.array(self.learner.predict_then_learn(x, y, a))
        arrived = np.eye(len(self.counts))[y] * (np.asarray(y) >= 0)[:, None]
        before = self.counts + np.cumsum(arrived, axis=0) - arrived  # (n, label), of the rows before each
        self.counts += arrived.sum(axis=0)
        majority = before.argmax(axis=1) if self.label is None else np.full(len(y), self.label)
        drawn = self.random.random(len(y)) >= self.probability
        outputs[drawn] = np.eye(len(self.counts))[majority[drawn]]
        return outputs


def majority(records: pd.DataFrame, stream: Stream,
             probabilities: Iterable[float] = PROBABILITIES) -> pd.DataFrame:
    """Expected records of the baseline, from the last records of models that learned from `stream`.

    Args:
        records: rows of `Grove.fit` with step = length of the stream.
        stream: for the majority label, which is that of the whole stream, as in the paper.
        probabilities: values of p; 1 is the model itself.

    Returns:
        A data frame like `records` with a column `probability`.
    """
    if not (records["step"] == len(stream)).all():
        raise ArgumentError(f"records must be those at the end of the stream, step {len(stream):,}")
    labels = stream.labels
    known = labels >= 0
    is_majority = labels == np.bincount(labels[known]).argmax()
    late = np.arange(len(labels)) >= len(labels) // 2
    shares = {"accuracy": is_majority[known].mean(), "late_accuracy": is_majority[known & late].mean()}
    frames = []
    for probability in probabilities:
        frame = records.copy()
        for name in frame.columns:
            if name in shares:
                frame[name] = probability * frame[name] + (1 - probability) * shares[name]
            elif name.endswith(("demographic_parity", "equal_opportunity", "equalized_odds")):
                frame[name] = probability * frame[name]  # one answer for all leaves no gap
        frames.append(frame.assign(probability=probability))
    return pd.concat(frames, ignore_index=True)
