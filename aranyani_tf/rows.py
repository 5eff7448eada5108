"""What a row must be: numbers, finite features, labels and groups that the model knows."""

from dataclasses import dataclass

import numpy as np

from aranyani_tf.arguments import require_choice

LARGEST = 1e18  # of a number: its square must fit into the float32 in which the model computes
ON_BAD_ROWS = ("raise", "skip")
SIZE = f"finite, and less than {LARGEST:.0e} in size"


def as_rows(features, labels, groups):
    """Arrays of numbers of equal lengths, or a clear error; single rows are not looked at here."""
    features, labels, groups = (
        as_numbers(name, array)
        for name, array in (("features", features), ("labels", labels), ("groups", groups)))
    if features.dtype != np.float64:  # float64 is kept for models that compute in it
        features = features.astype(np.float32, copy=False)
    if features.ndim != 2:
        raise ValueError(f"features must be (rows, features), got shape {features.shape}")
    for name, column in (("labels", labels), ("groups", groups)):
        if column.shape != (len(features),):
            raise ValueError(f"{name} must have shape ({len(features)},), one per row of the features; "
                             f"got {column.shape}")
    return features, labels, groups


def as_numbers(name, array):
    array = np.asarray(array)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got {array.dtype}; encode categories as 0, 1, 2, … first")
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
    feature_names: tuple | None = None
    on_bad_rows: str = "raise"  # or "skip"

    def __post_init__(self):
        require_choice("on_bad_rows", self.on_bad_rows, ON_BAD_ROWS)

    def convert(self, features, labels, groups):
        """As the model computes; a wrong number of features concerns every row at once."""
        features, labels, groups = as_rows(features, labels, groups)
        if features.shape[1] != self.num_features:
            raise ValueError(f"the model takes {self.num_features} features, "
                             f"the rows have {features.shape[1]}")
        with np.errstate(over="ignore"):  # what overflows is infinite, and is named as such
            return features.astype(self.dtype, copy=False), labels, groups

    def problems(self, features, labels, groups):
        """A mask of bad rows, and (row, sentence) about the first of them, or None."""
        bad_feature = ~(np.abs(features) < LARGEST).all(axis=1)
        bad_label = np.abs(labels) >= LARGEST if self.num_labels == 1 else is_no_code(labels, self.num_labels)
        bad_group = is_no_code(groups, self.num_groups)
        bad = bad_feature | bad_label | bad_group
        if not bad.any():
            return bad, None
        row = int(np.argmax(bad))
        if bad_feature[row]:
            column = int(np.argmin(np.abs(features[row]) < LARGEST))
            name = f" ({self.feature_names[column]})" if self.feature_names else ""
            return bad, (row, f"feature {column}{name} is {features[row, column]}, must be {SIZE}")
        if bad_label[row]:
            wanted = SIZE if self.num_labels == 1 else codes(self.num_labels)
            return bad, (row, f"label is {labels[row]}, must be {wanted}")
        return bad, (row, f"group is {groups[row]}, must be {codes(self.num_groups)}")

    def complain(self, sentence):
        """Raises, unless bad rows are to be skipped."""
        if self.on_bad_rows == "raise":
            raise ValueError(f"{sentence}. Mend the row, or pass on_bad_rows='skip'")

    def good_rows(self, bad, features, labels, groups):
        """The rows that are not bad, with the types that the training loop takes."""
        good = ~bad if bad.any() else slice(None)
        label_type = self.dtype if self.num_labels == 1 else np.int32
        return (features[good], labels[good].astype(label_type, copy=False),
                groups[good].astype(np.int32, copy=False))


def is_no_code(values, count):
    """Where a value is not one of −1, 0, …, count − 1."""
    return ~((values >= -1) & (values < count) & (values == np.floor(values)))


def codes(count):
    return f"a whole number from 0 to {count - 1}, or −1 if missing"
