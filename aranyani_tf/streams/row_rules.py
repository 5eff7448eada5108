"""What a row must be: numbers, finite features, labels and groups that the model knows.

Every way into a model, and into every baseline, goes through `RowRules`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aranyani_tf.arguments import require_choice
from aranyani_tf.errors import RowError
from aranyani_tf.streams.row_weights import is_bad_weight, told_weight, without_weightless

Rows = tuple[np.ndarray, ...]  # features (row, feature), labels and groups (row,), weights (row,) if they have any

LARGEST = 1e18  # of a number: its square must fit into the float32 in which the model computes
ON_BAD_ROWS = ("raise", "skip")
SIZE = f"finite, and less than {LARGEST:.0e} in size"
FEW = 20  # positive labels below which nothing is concluded
ANY_GROUP = 2**31 - 1  # groups of a learner that does not look at them


def as_rows(features: Any, labels: Any, groups: Any, *row_weights: Any) -> Rows:
    """Arrays of numbers of equal lengths, or a clear error; single rows are not looked at here."""
    features = as_features(features)
    names = ("labels", "groups", "sample_weight")
    labels, groups, *weights = (as_column(name, as_numbers(name, column), len(features))
                                for name, column in zip(names, (labels, groups, *row_weights), strict=False))
    return features, labels, groups, *(column.astype("float64", copy=False) for column in weights)


def as_column(name: str, column: np.ndarray, num_rows: int) -> np.ndarray:
    """(row,), also of (row, 1)."""
    if column.shape == (num_rows, 1):
        column = column[:, 0]
    if column.shape != (num_rows,):
        raise RowError(f"{name} must have shape ({num_rows},), one per row of the features; got {column.shape}")
    return column


def as_features(features: Any) -> np.ndarray:
    """Numbers of shape (rows, features): float64 if they are, or else float32."""
    features = as_numbers("features", features)
    if features.dtype != np.float64:  # float64 is kept for models that compute in it
        features = features.astype(np.float32, copy=False)
    if features.ndim == 1:
        raise RowError(f"features must be (rows, features), got shape {features.shape}; one row is x[None], "
                       "or [x] as a list")
    if features.ndim != 2:
        raise RowError(f"features must be (rows, features), got shape {features.shape}")
    return features


def as_numbers(name: str, array: Any) -> np.ndarray:
    """A NumPy array of numbers; whatever is none is refused by name."""
    if hasattr(array, "toarray"):
        raise RowError(f"{name} are a sparse {type(array).__name__}; pass {name}.toarray()")
    if np.ma.isMaskedArray(array):
        if np.ma.getmaskarray(array).any():
            filled = "filled(-1)" if name != "features" else "filled(value)"
            raise RowError(f"{name} are masked in part, and what lies under a mask is not to be used; pass "
                           f"{name}.{filled}")
        array = np.ma.getdata(array)
    try:
        array = np.asarray(array)
    except (ValueError, TypeError) as error:  # ragged, most of all
        raise RowError(f"{name} are no array of numbers: {error}") from error
    if array.dtype.kind not in "biuf":
        given = type(array.item()).__name__ if array.ndim == 0 else array.dtype
        raise RowError(f"{name} must be numbers, got {given}; encode categories as 0, 1, 2, … first, and empty "
                       "cells of labels or groups as −1")
    if array.dtype.kind == "f":
        return array
    narrow = array.astype(np.int32)
    return narrow if (narrow == array).all() else array  # what does not fit is left for `problems` to name


@dataclass(frozen=True)
class RowRules:
    """What a model accepts; `problems` names the rows that break it."""

    num_features: int
    num_labels: int
    num_groups: int
    dtype: str = "float32"
    feature_names: tuple[str, ...] | None = None
    on_bad_rows: str = "raise"  # or "skip"
    knows_label_0: bool = False  # from rows before: then −1 does mean missing

    def __post_init__(self) -> None:
        require_choice("on_bad_rows", self.on_bad_rows, ON_BAD_ROWS)

    def convert(self, features: Any, labels: Any, groups: Any, *row_weights: Any) -> Rows:
        """As the model computes; a wrong number of features concerns every row at once."""
        features, *others = as_rows(features, labels, groups, *row_weights)
        require_width(features.shape, self.num_features)
        with np.errstate(over="ignore"):  # what overflows is infinite, and is named as such
            return features.astype(self.dtype, copy=False), *others

    def problems(self, features: np.ndarray, labels: np.ndarray, groups: np.ndarray, *row_weights: np.ndarray,
                 whole: Rows | None = None) -> tuple[np.ndarray, tuple[int, str] | None]:
        """A mask of bad rows, and (row, sentence) about the first of them, or None.

        `whole` are the labels and groups of the whole stream, where they are known: the advice looks at them.
        """
        bad_feature = is_bad_feature(features)
        bad_label = np.abs(labels) >= LARGEST if self.num_labels == 1 else is_no_code(labels, self.num_labels)
        bad_group = is_no_code(groups, self.num_groups)
        bad = bad_feature | bad_label | bad_group
        for weights in row_weights:
            bad |= is_bad_weight(weights)
        if not bad.any():
            return bad, None
        row = int(np.argmax(bad))
        if bad_feature[row]:
            return bad, (row, told_feature(features[row], self.feature_names))
        if bad_label[row] and self.num_labels == 1:
            return bad, (row, f"label is {labels[row]}, must be {SIZE}")
        if not (bad_label[row] or bad_group[row]):
            return bad, (row, told_weight(row_weights[0][row]))
        all_labels, all_groups = whole or (labels, groups)
        name, value, column, count = (("label", labels[row], all_labels, self.num_labels) if bad_label[row] else
                                      ("group", groups[row], all_groups, self.num_groups))
        return bad, (row, f"{name} is {value}, must be {codes(count)}{way_out(name, column, count)}")

    def checked(self, *given: Any) -> tuple[Rows, np.ndarray, str | None]:
        """(converted rows, mask of bad ones, sentence about the first); raises unless they are to be skipped."""
        rows = self.convert(*given)
        bad, problem = self.problems(*rows)
        sentence = None
        if problem:
            sentence = f"row {problem[0]:,}: {problem[1]}"
            self.complain(sentence)
        self.require_no_signs(rows[1])
        return rows, bad, sentence

    def require_no_signs(self, labels: np.ndarray) -> None:
        """Raises if labels look like −1 and 1: −1 means missing, so that only the positive ones would be learned."""
        if self.num_labels == 2 and not self.knows_label_0 and (labels == 1).sum() >= FEW and (
                (labels == -1).any() and not (labels == 0).any()):
            raise RowError("the labels are −1 and 1 and none is 0, but −1 stands for a missing label: use 0 and 1, "
                           "labels = (labels + 1) // 2. If only label 1 is ever known, there is nothing to tell apart")

    def complain(self, sentence: str) -> None:
        """Raises, unless bad rows are to be skipped."""
        if self.on_bad_rows == "raise":
            raise RowError(f"{sentence}. Mend the row, or pass on_bad_rows='skip'")

    def good_rows(self, bad: np.ndarray, features: np.ndarray, labels: np.ndarray, groups: np.ndarray,
                  *row_weights: np.ndarray) -> Rows:
        """The rows that are not bad, as the training loop takes them; those of weight 0 lose label and group."""
        good = ~bad if bad.any() else slice(None)
        label_type = self.dtype if self.num_labels == 1 else np.int32
        labels, groups = labels[good].astype(label_type, copy=False), groups[good].astype(np.int32, copy=False)
        if row_weights:
            return features[good], *without_weightless(labels, groups, row_weights[0][good])
        return features[good], labels, groups


def require_width(shape: Sequence[int | None], num_features: int) -> None:
    """Raises unless rows of this shape are as wide as the model; a width that is not known yet passes."""
    if len(shape) != 2:
        raise RowError(f"features must be (rows, features), got shape {tuple(shape)}; one row is x[None]")
    if shape[-1] not in (None, num_features):
        raise RowError(f"the model takes {num_features} features, the rows have {shape[-1]}")


def usable_features(features: Any, num_features: int | None, dtype: str,
                    on_bad_rows: str) -> tuple[np.ndarray, np.ndarray]:
    """Features as a model computes, and a mask of the rows that it cannot use, which are 0; or a clear error.

    Args:
        num_features: None if any number will do.
    """
    require_choice("on_bad_rows", on_bad_rows, ON_BAD_ROWS)
    features = as_features(features)
    if not len(features):
        raise RowError("there are no rows to predict")
    if num_features is not None:
        require_width(features.shape, num_features)
    with np.errstate(over="ignore"):
        features = features.astype(dtype, copy=False)
    bad = is_bad_feature(features)
    if bad.any():
        row = int(np.argmax(bad))
        if on_bad_rows != "skip":
            raise RowError(f"row {row:,}: {told_feature(features[row])}. Mend the row, or pass on_bad_rows='skip'")
        features = np.where(bad[:, None], 0, features)
    return features, bad


def is_bad_feature(features: np.ndarray) -> np.ndarray:
    return ~(np.abs(features) < LARGEST).all(axis=1)


def told_feature(row: np.ndarray, feature_names: Sequence[str] | None = None) -> str:
    """A sentence about the first feature of a row that cannot be used."""
    column = int(np.argmin(np.abs(row) < LARGEST))
    name = f" ({feature_names[column]})" if feature_names else ""
    return f"feature {column}{name} is {row[column]}, must be {SIZE}"


def is_no_code(values: np.ndarray, count: int) -> np.ndarray:
    """Where a value is not one of −1, 0, …, count − 1."""
    return ~((values >= -1) & (values < count) & (values == np.floor(values)))


def codes(count: int) -> str:
    return f"a whole number from 0 to {count - 1}, or −1 if missing"


def way_out(name: str, column: np.ndarray, count: int) -> str:
    """What to do where the codes are fine, but the model was made for fewer of them."""
    if is_no_code(column, ANY_GROUP).any() or not count <= column.max() < 1000:
        return ""
    return f". The model was made for {count} {name}s: pass num_{name}s={int(column.max()) + 1}"
