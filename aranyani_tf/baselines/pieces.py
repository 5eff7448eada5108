"""scikit-learn's classifiers as learners of a stream, piece by piece: SGD, and boosting refitted on a window.

Neither minds fairness: they are ceilings, what could be had if nobody asked for it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np

from aranyani_tf.arguments import require_whole
from aranyani_tf.streams.row_rules import ANY_GROUP, RowRules, as_rows


class PieceLearner:
    """Answers all rows of a piece with the model as it stood when the piece began, then learns from the piece.

    A row's own label, and those after it, are never known to the model that answers. Pieces are counted from
    the beginning of the stream, whatever the chunks in which rows arrive. Until there is a model, rows are
    answered by the shares of the labels before them.

    Args:
        piece: rows of a piece; 1 learns row by row.
        num_labels: how many labels there are.
    """

    def __init__(self, piece: int, num_labels: int = 2) -> None:
        require_whole("piece", piece, 1)
        self.piece, self.num_labels = piece, num_labels
        self.classifier: Any = None  # with `predict_proba` and `classes_`
        self.counts = np.zeros(num_labels)  # of the labels so far
        self.rows_of_piece = 0  # that came so far, with a label or without
        self.waiting: list[tuple[np.ndarray, np.ndarray]] = []  # those with a label: features, labels

    def predict_then_learn(self, x: Any, y: Any, a: Any) -> np.ndarray:
        """What was said about each row before learning from it, (n, label); the group is not used."""
        x, y, a = as_rows(x, y, a)
        (x, y, a), *_ = RowRules(x.shape[1], self.num_labels, ANY_GROUP, x.dtype.name).checked(x, y, a)
        outputs, start = np.empty((len(x), self.num_labels)), 0
        while start < len(x):
            stop = min(start + self.piece - self.rows_of_piece, len(x))
            outputs[start:stop] = self.answers(x[start:stop], y[start:stop])
            self.keep(x[start:stop], y[start:stop])
            start = stop
        return outputs

    def answers(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """By the model, or, where there is none yet, by the labels of the rows before each."""
        if self.classifier is not None:
            outputs = np.zeros((len(x), self.num_labels))
            with one_thread():
                outputs[:, self.classifier.classes_] = self.classifier.predict_proba(x)
            return outputs
        arrived = np.eye(self.num_labels)[y] * (y >= 0)[:, None]
        before = self.counts + np.cumsum(arrived, axis=0) - arrived
        return np.where(before.sum(axis=1, keepdims=True) > 0,
                        before / np.maximum(before.sum(axis=1, keepdims=True), 1), 1 / self.num_labels)

    def keep(self, x: np.ndarray, y: np.ndarray) -> None:
        known = y >= 0
        self.counts += np.bincount(y[known], minlength=self.num_labels)
        self.waiting.append((x[known], y[known]))
        self.rows_of_piece += len(x)
        if self.rows_of_piece == self.piece:
            features, labels = (np.concatenate(parts) for parts in zip(*self.waiting, strict=True))
            self.rows_of_piece, self.waiting = 0, []
            if len(labels):
                self.learn_piece(features, labels)

    def learn_piece(self, x: np.ndarray, y: np.ndarray) -> None:
        raise NotImplementedError


class PartialFitLearner(PieceLearner):
    """A classifier that goes on learning by `partial_fit`.

    Args:
        classifier: of scikit-learn, not fitted.
        piece, num_labels: see `PieceLearner`.
    """

    def __init__(self, classifier: Any, piece: int = 1, num_labels: int = 2) -> None:
        super().__init__(piece, num_labels)
        self.unfitted = classifier

    def learn_piece(self, x: np.ndarray, y: np.ndarray) -> None:
        self.classifier = self.unfitted.partial_fit(x, y, classes=np.arange(self.num_labels))


class WindowLearner(PieceLearner):
    """A classifier that is made and fitted anew after every piece, on the last rows that have a label.

    Between two fits it answers by the last model. A window with one label only is not fitted: the model
    before it, if there is any, stays.

    Args:
        make: function without arguments, gives a classifier of scikit-learn.
        window: how many rows it is fitted on.
        piece, num_labels: see `PieceLearner`.
    """

    def __init__(self, make: Callable[[], Any], piece: int, window: int, num_labels: int = 2) -> None:
        super().__init__(piece, num_labels)
        require_whole("window", window, 1)
        self.make, self.window = make, window
        self.rows: tuple[np.ndarray, np.ndarray] | None = None  # features and labels of the window

    def learn_piece(self, x: np.ndarray, y: np.ndarray) -> None:
        if self.rows is not None:
            x, y = np.concatenate([self.rows[0], x]), np.concatenate([self.rows[1], y])
        self.rows = x[-self.window:], y[-self.window:]
        if len(np.unique(self.rows[1])) > 1:
            with one_thread():
                self.classifier = self.make().fit(*self.rows)


def one_thread() -> AbstractContextManager:
    """Experiments run in as many processes as there are cores; threads of each that wait for each other cost
    more than they bring."""
    return thread_pools().limit(limits=1, user_api="openmp")


@cache
def thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it

    return ThreadpoolController()


def sgd(seed: int | None = 0, piece: int = 10, num_labels: int = 2, **options: Any) -> PartialFitLearner:
    """scikit-learn's logistic regression by stochastic gradients; features go in as they are, and should be scaled.

    The learning rate is River's, 0.01 throughout: scikit-learn's own schedule is made for many passes. Ten rows
    are learned at a time, in order, since each call costs more than the rows in it.
    """
    from sklearn.linear_model import SGDClassifier

    options = {"learning_rate": "constant", "eta0": 0.01} | options
    return PartialFitLearner(SGDClassifier(loss="log_loss", random_state=seed, shuffle=False, **options), piece,
                             num_labels)


def boosting_on_windows(seed: int | None = 0, piece: int = 1000, window: int = 10_000, num_labels: int = 2,
                        **options: Any) -> WindowLearner:
    """scikit-learn's histogram gradient boosting, refitted every `piece` rows on the last `window`.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=100)
    >>> learner = boosting_on_windows(piece=40, window=60, max_iter=5)
    >>> learner.predict_then_learn(stream.features, stream.labels, stream.groups).shape
    (100, 2)
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    return WindowLearner(lambda: HistGradientBoostingClassifier(early_stopping=False, random_state=seed, **options),
                         piece, window, num_labels)
