"""Aranyani as a classifier of scikit-learn: `partial_fit` for a stream, `fit` for a table."""

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from aranyani_tf.adapters.names import Names, all_or_none
from aranyani_tf.adapters.resident import Resident
from aranyani_tf.adapters.weights import weights_of
from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError, RowError


class FairForestClassifier(ClassifierMixin, BaseEstimator):
    """A fair oblique forest with scikit-learn's methods; the groups are `sensitive_features`, as fairlearn has it.

    `partial_fit` learns from rows one by one, in order, and is the online learner; `fit` begins anew and goes over its
    rows `epochs` times. Neither needs groups, and predictions never do. Features should be of a similar size: put a
    `StandardScaler` in front.

    Args:
        num_trees, height: of the forest.
        fairness_weight: λ.
        notion, constraint, penalty, decay, forget, chance: those of `Aranyani`. Notions that look at the label take
            `classes_[1]` as the positive one.
        num_groups: how many groups there may be.
        learning_rate: of Adam.
        epochs: how often `fit` goes over its rows.
        random_state: of the initial weights.

    Attributes:
        classes_: the labels, sorted.
        groups_: the groups so far.
        model_: the `Aranyani`; `model_.so_far()` has the metrics of all rows that were learned.
        n_features_in_, feature_names_in_: as scikit-learn has them.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=200, num_features=4)
    >>> forest = FairForestClassifier(random_state=0)
    >>> forest = forest.fit(stream.features, stream.labels, sensitive_features=stream.groups)
    >>> forest.predict_proba(stream.features[:3]).shape, forest.classes_.tolist(), forest.groups_
    ((3, 2), [0, 1], [0, 1])
    """

    def __init__(self, num_trees: int = 3, height: int = 4, *, fairness_weight: float = 10.0,
                 notion: Any = "demographic_parity", constraint: str | None = None, penalty: Any = None,
                 decay: float | None = None, forget: str = "rows", chance: float = 0.0, num_groups: int = 2,
                 learning_rate: float = 2e-3, epochs: int = 10, random_state: Any = None) -> None:
        self.num_trees, self.height, self.fairness_weight = num_trees, height, fairness_weight
        self.notion, self.constraint, self.penalty = notion, constraint, penalty
        self.decay, self.forget, self.chance, self.num_groups = decay, forget, chance, num_groups
        self.learning_rate, self.epochs, self.random_state = learning_rate, epochs, random_state

    def fit(self, X: Any, y: Any, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Begins anew, and learns from rows, `epochs` times over, in order.

        Args:
            X: numbers, (row, feature).
            y: labels.
            sensitive_features: the group of each row, of whatever kind; several columns are one group for each
                combination. None or NaN is a group that is not known, in one column or in several.
            sample_weight: how much each row counts: one of weight 3 pulls three times as hard as one of weight 1,
                and counts for the running means as three rows do; one of weight 0 is not there.
        """
        require_whole("epochs", self.epochs, 1)
        X, y = self._checked(X, y, reset=True)
        self._begin(np.unique(y))
        return self._learn(X, y, sensitive_features, sample_weight, self.epochs)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sensitive_features: Any = None,
                    sample_weight: Any = None) -> Self:
        """Learns from rows, once, in order, and goes on where the last call was.

        Args:
            classes: all labels that there will be; the first call needs it.
            others: those of `fit`.
        """
        first = not hasattr(self, "_forest")
        if first and classes is None:
            raise ArgumentError("the first call of partial_fit needs all classes that there will be: "
                                "classes=np.unique(y) of all rows")
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ArgumentError(f"classes are {np.unique(classes)}, and were {self.classes_} at the first call")
        X, y = self._checked(X, y, reset=first)
        if first:
            self._begin(np.unique(classes))
        return self._learn(X, y, sensitive_features, sample_weight, 1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class), in the order of `classes_`."""
        check_is_fitted(self)
        return self._forest.predict(validate_data(self, X, dtype=("float64", "float32"), reset=False))

    def predict(self, X: Any) -> np.ndarray:
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    @property
    def model_(self) -> Any:
        check_is_fitted(self)
        return self._forest.flushed()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_forest")

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        X, y = validate_data(self, X, y, dtype=("float64", "float32"), reset=reset)
        check_classification_targets(y)
        return X, column_or_1d(y)

    def _begin(self, classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise ArgumentError(f"there is only one class, {classes[0]!r}: nothing to tell apart")
        forest = Resident(
            self.learning_rate, num_labels=len(classes), num_trees=self.num_trees, height=self.height,
            fairness_weight=self.fairness_weight, notion=self.notion, constraint=self.constraint,
            penalty=self.penalty, num_groups=self.num_groups, decay=self.decay, forget=self.forget,
            chance=self.chance, seed=int(check_random_state(self.random_state).randint(2**31)))
        self.classes_, self._forest, self._groups = classes, forest, Names("group", self.num_groups)

    def _learn(self, X: np.ndarray, y: np.ndarray, sensitive_features: Any, sample_weight: Any, times: int) -> Self:
        weights = weights_of("sample_weight", sample_weight, len(X))
        if weights is not None and len(np.unique(y[weights > 0])) == 0:
            raise ArgumentError("sample_weight is zero for every row: there is nothing to learn from")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise RowError(f"the class {unknown[0]!r} is not among those of the first call, {self.classes_}")
        codes, groups = np.searchsorted(self.classes_, y).astype(np.int32), np.full(len(X), -1, np.int32)
        with all_or_none(self._groups):
            if sensitive_features is not None:
                groups = self._groups.codes_of(one_column(sensitive_features, len(X)))
            for _ in range(times):
                self._forest.learn(X, codes, groups, weights)
        self.groups_ = self._groups.known
        return self


def one_column(features: Any, num_rows: int) -> pd.Series:
    """The group of each row; a tuple where there are several columns.

    >>> one_column([["f", "old"], ["m", "young"]], 2).tolist()
    [('f', 'old'), ('m', 'young')]
    """
    table = pd.DataFrame(features)
    if len(table) != num_rows:
        raise RowError(f"sensitive_features must have one value for each of {num_rows} rows, got {len(table)}")
    if table.shape[1] == 1:
        return table.iloc[:, 0]
    every = list(table.itertuples(index=False, name=None))
    return pd.Series([None if empty else row for row, empty in zip(every, table.isna().any(axis=1), strict=True)],
                     dtype=object)
