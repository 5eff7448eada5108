"""Massaging and reweighting of chunks (Iosifidis, Tran and Ntoutsi, DEXA 2019, after Kamiran and Calders, 2012).

The stream is cut into chunks. A chunk is answered by the model as it is, then corrected, then learned. Where the
decisions of a chunk favour a group by more than a threshold,

- *massaging* swaps labels until both groups have an equal share of positive ones: M rows of the deprived group are
  promoted, those that look most positive, and M of the favoured one demoted, those that look least so, with

      M = ⌈(p_f·n_d − p_d·n_f) / (n_f + n_d)⌉            p positive labels of n rows, favoured and deprived;

- *reweighting* gives each row the weight P(a)·P(y) / P(a, y), by which label and group are independent.

Until such a chunk comes the model learns row by row; then it begins anew, and learns chunk by chunk from there on.
"""

import inspect
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from aranyani_tf.arguments import require_choice, require_number, require_whole
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.row_rules import RowRules, as_rows

CORRECTIONS = ("massaging", "reweighting")
RANKERS = ("bayes", "model")


def rate_gap(positive: np.ndarray, groups: np.ndarray, num_groups: int = 2) -> float:
    """How far the share of positive rows differs between groups: P(+ | 0) − P(+ | 1), or the largest gap of more than
    two groups. Rows with a group of −1 do not count; with fewer than two groups there is no gap."""
    rates = [positive[groups == group].mean() for group in range(num_groups) if (groups == group).any()]
    if len(rates) < 2:
        return 0.0
    return float(rates[0] - rates[1] if num_groups == 2 else max(rates) - min(rates))


def massaged(labels: np.ndarray, groups: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Labels 0 and 1 after the swaps; rows without a label or a group stay as they are.

    Args:
        labels, groups: of the chunk, (n,), −1 where missing; two groups.
        scores: (n,), larger where a positive label is more plausible.

    >>> import numpy as np
    >>> massaged(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1]), np.array([0.9, 0.6, 0.1, 0.4]))
    array([1, 0, 0, 1])
    """
    known = (labels >= 0) & (groups >= 0)
    gap = rate_gap(labels[known] == 1, groups[known])
    if gap == 0:
        return labels
    favoured, deprived = (known & (groups == group) for group in ((0, 1) if gap > 0 else (1, 0)))
    excess = int(labels[favoured].sum() * deprived.sum() - labels[deprived].sum() * favoured.sum())
    swaps = -(-excess // int(known.sum()))  # rounded up
    promoted, demoted = np.flatnonzero(deprived & (labels == 0)), np.flatnonzero(favoured & (labels == 1))
    labels = labels.copy()
    labels[promoted[np.argsort(-scores[promoted], kind="stable")[:swaps]]] = 1
    labels[demoted[np.argsort(scores[demoted], kind="stable")[:swaps]]] = 0
    return labels


def independent_weights(labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """P(a)·P(y) / P(a, y) of each row, (n,), over the rows that have both; the others weigh 1.

    >>> import numpy as np
    >>> independent_weights(np.array([1, 1, 0, 0, 1]), np.array([0, 0, 0, 1, -1]))
    array([0.75, 0.75, 1.5 , 0.5 , 1.  ])
    """
    weights, known = np.ones(len(labels)), (labels >= 0) & (groups >= 0)
    for label in np.unique(labels[known]):
        for group in np.unique(groups[known]):
            cell = known & (labels == label) & (groups == group)
            if cell.any():
                expected = (known & (labels == label)).sum() * (known & (groups == group)).sum() / known.sum()
                weights[cell] = expected / cell.sum()
    return weights


def bayes_scores(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Log odds of label 1 by a Gaussian naive Bayes of these very rows, (n,); 0 where only one label is known."""
    features = features.astype("float64")
    if min((labels == label).sum() for label in (0, 1)) == 0:
        return np.zeros(len(labels))
    least = 1e-9 * features.var(axis=0).max() + 1e-300  # a column that is constant within a label has no width
    log_likelihood = []
    for label in (0, 1):
        rows = features[labels == label]
        variance = rows.var(axis=0) + least
        log_likelihood.append(-0.5 * (np.log(variance) + (features - rows.mean(axis=0)) ** 2 / variance).sum(axis=1)
                              + np.log(len(rows)))
    return log_likelihood[1] - log_likelihood[0]


class ChunkCorrection:
    """Any learner behind corrected chunks: **the group is needed to learn, and not to predict.**

    Rows without a group are learned as they are, with weight 1, and rows without a label are only answered.

    Args:
        make_learner: function that gives a new learner, with `predict(x)` and `predict_then_learn(x, y, a)`; for
            reweighting the latter must take `sample_weight`. Two labels, of which 1 is the positive one.
        correction: "massaging" or "reweighting".
        chunk_rows: rows of a chunk.
        threshold: the gap between the groups' rates of positive decisions up to which a chunk is learned as it is.
        num_groups: number of groups; massaging knows two only.
        ranker: what says how positive a row looks to massaging: "bayes", a naive Bayes of the chunk itself, as in the
            authors' code, or "model", what was said about the row.

    >>> import aranyani_tf as ar
    >>> from aranyani_tf.baselines.hoeffding import hoeffding_tree
    >>> learner = ChunkCorrection(hoeffding_tree, "massaging", chunk_rows=50)
    >>> stream = ar.datasets.load("synthetic", num_rows=120)
    >>> learner.predict_then_learn(stream.features, stream.labels, stream.groups).shape
    (120, 2)
    """

    num_labels = 2

    def __init__(self, make_learner: Callable[[], Any], correction: str, *, chunk_rows: int = 1000,
                 threshold: float = 0.0, num_groups: int = 2, ranker: str = "bayes") -> None:
        require_choice("correction", correction, CORRECTIONS)
        require_whole("chunk_rows", chunk_rows, 1)
        require_number("threshold", threshold, 0, 1)
        require_whole("num_groups", num_groups, 2)
        require_choice("ranker", ranker, RANKERS)
        if correction == "massaging" and num_groups > 2:
            raise ArgumentError(f"massaging swaps labels between two groups, num_groups is {num_groups}; "
                                "correction='reweighting' takes any number")
        self.make_learner, self.learner = make_learner, make_learner()
        if getattr(self.learner, "num_labels", 2) != 2:
            raise ArgumentError(f"{correction} needs two labels; the learner has num_labels={self.learner.num_labels}")
        takes = inspect.signature(self.learner.predict_then_learn).parameters
        if correction == "reweighting" and "sample_weight" not in takes:
            raise ArgumentError(f"reweighting needs a learner whose predict_then_learn takes sample_weight; "
                                f"{type(self.learner).__name__} does not: massaging can do without")
        self.correction, self.chunk_rows, self.threshold = correction, chunk_rows, threshold
        self.num_groups, self.ranker = num_groups, ranker
        self.by_chunks = False  # whether a chunk was ever corrected
        self.pieces: list[tuple[np.ndarray, ...]] = []  # features, labels, groups and answers of the chunk so far
        self.num_kept = 0

    def predict_then_learn(self, x: Any, y: Any, a: Any) -> np.ndarray:
        """What is said about each row, (n, label): by the model as it was when the row's chunk began."""
        x, y, a = as_rows(x, y, a)
        (x, y, a), *_ = RowRules(x.shape[1], 2, self.num_groups, x.dtype.name).checked(x, y, a)
        outputs, start = np.empty((len(x), 2)), 0
        while start < len(x):
            piece = slice(start, start + self.chunk_rows - self.num_kept)
            rows = x[piece], y[piece], a[piece]
            outputs[piece] = self.predict(rows[0]) if self.by_chunks else self.learner.predict_then_learn(*rows)
            self.pieces.append((*rows, outputs[piece]))
            self.num_kept += len(rows[0])
            start += len(rows[0])
            if self.num_kept == self.chunk_rows:
                self.learn_chunk(*map(np.concatenate, zip(*self.pieces, strict=True)))
                self.pieces, self.num_kept = [], 0
        return outputs

    def predict(self, x: Any) -> np.ndarray:
        """What is said about rows, (n, label), without learning from them."""
        quietly = {"verbose": 0} if isinstance(self.learner, keras.Model) else {}
        return np.asarray(self.learner.predict(x, **quietly))

    def learn_chunk(self, x: np.ndarray, y: np.ndarray, a: np.ndarray, said: np.ndarray) -> None:
        gap = rate_gap(said.argmax(axis=1) == 1, a, self.num_groups)
        unfair = abs(gap) > self.threshold
        if unfair and not self.by_chunks:
            self.by_chunks, self.learner = True, self.make_learner()
        if not self.by_chunks:
            return  # it was learned row by row
        weights = {}
        if unfair and self.correction == "reweighting":
            weights = {"sample_weight": independent_weights(y, a)}
        # Where the decisions favour one group and the labels the other, equal labels would be a push the wrong way.
        elif unfair and gap * rate_gap(y[y >= 0] == 1, a[y >= 0]) > 0:
            y = massaged(y, a, bayes_scores(x, y) if self.ranker == "bayes" else said[:, 1])
        self.learner.predict_then_learn(x, y, a, **weights)
