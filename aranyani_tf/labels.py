"""What a missing label is, for every part of the package: −1, or NaN in regression.

A label's type tells which: whole numbers are classes, floats the targets of a regression. A group of −1 is missing.
"""

from typing import Any

import numpy as np
import tensorflow as tf

Array = Any  # of NumPy or of TensorFlow


def is_labelled(labels: Array, *, regression: bool | None = None) -> Array:
    """Where there is a label.

    Args:
        regression: whether these are targets of a regression; None lets their type tell, as it does for all
            rows that were checked. Those that were not may be classes written as floats, or targets as whole
            numbers.

    >>> is_labelled(np.array([0, -1, 1])), is_labelled(np.array([0.5, np.nan]))
    (array([ True, False,  True]), array([ True, False]))
    """
    if regression is None:
        regression = is_floating(labels)
    if not regression:
        return labels >= 0
    return np.isfinite(labels) if isinstance(labels, np.ndarray) else tf.math.is_finite(labels)


def is_informative(labels: Array, groups: Array) -> Array:
    """Rows with a label or a group; the others teach nothing, are not counted, and make nothing forget."""
    return is_labelled(labels) | (groups >= 0)


def missing_label(labels: Array) -> float:
    """What stands for no label among these."""
    return np.nan if is_floating(labels) else -1


def is_floating(labels: Array) -> bool:
    return labels.dtype.kind == "f" if isinstance(labels, np.ndarray) else labels.dtype.is_floating
