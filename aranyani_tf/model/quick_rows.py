"""Rows that are beyond doubt, seen so in a microsecond; all others go through `streams.row_rules`."""

from typing import Any

import numpy as np

from aranyani_tf.streams.row_weights import NOTHING

ORDINARY = 1e30  # squares of a row's features that add up to less are all of numbers that can be learned
LARGE = 1e15  # a target, or a weight
WHOLE: Any = (int, np.integer)
FRACTION: Any = (float, np.floating)
NUMBER: Any = (*WHOLE, *FRACTION)


class QuickRows:
    """What a single row, its label and its group have to be for a model.

    >>> quick = QuickRows(2, np.dtype("float32"), num_labels=2, num_groups=2)
    >>> quick.features([1.0, 2.0]), quick.features([1.0, np.nan]), quick.are_codes(1, -1), quick.are_codes("yes", 0)
    (array([[1., 2.]], dtype=float32), None, True, False)
    """

    def __init__(self, width: int, dtype: np.dtype, num_labels: int, num_groups: int) -> None:
        self.width, self.dtype, self.num_labels, self.num_groups = width, dtype, num_labels, num_groups
        self.shape = (width,)
        self.label_type = dtype if num_labels == 1 else np.dtype("int32")

    def is_plain(self, x: Any) -> bool:
        """Whether this is one row of the model's own type; what its numbers are is not looked at."""
        return type(x) is np.ndarray and x.dtype is self.dtype and x.shape == self.shape

    def features(self, x: Any) -> np.ndarray | None:
        """One row as (1, feature), in an array of its own; None for whatever needs a closer look."""
        if type(x) is not np.ndarray:
            if isinstance(x, np.ma.MaskedArray):
                return None
            x = np.asarray(x)
        if x.shape != self.shape:
            return None
        if x.dtype is not self.dtype:
            if x.dtype.kind not in "fiu":
                return None
            if x.dtype.kind != "f":
                x = x.astype("float64")  # whose squares add up
        if not np.vdot(x, x) < ORDINARY:  # which overflows in silence, as `dot` does not
            return None
        rows = np.array(x, self.dtype, ndmin=2)
        rows.setflags(write=False)  # as the engine knows its rows
        return rows

    def are_codes(self, y: Any, a: Any) -> bool:
        """Whether this is a label, or a target, and a group."""
        if not (isinstance(a, WHOLE) and -1 <= a < self.num_groups):
            return False
        if self.num_labels == 1:
            return isinstance(y, FRACTION) and not abs(y) >= LARGE
        return bool(isinstance(y, WHOLE) and -1 <= y < self.num_labels)

    def is_weight(self, weight: Any) -> bool:
        """Whether this is what a row may weigh that teaches something."""
        return isinstance(weight, NUMBER) and bool(NOTHING < weight < LARGE)

    def codes(self, y: Any, a: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both as arrays of one, of the types that the engine takes."""
        label = np.array((y,), np.float64)
        if self.num_labels == 1:
            label = label.astype(self.dtype).astype(np.float64)  # rounded as the model has its targets
        return label, np.array((a,), np.int32)
