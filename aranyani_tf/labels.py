"""What a missing label is, for every part of the package: −1, or NaN in regression.

A label's type tells which: whole numbers are classes, floats the targets of a regression. A group of −1 is missing.
"""

from typing import Any

import numpy as np
import tensorflow as tf

Array = Any  # of NumPy or of TensorFlow


def is_labelled(labels: Array) -> Array:
    """Where there is a label.

    >>> is_labelled(np.array([0, -1, 1])), is_labelled(np.array([0.5, np.nan]))
    (array([ True, False,  True]), array([ True, False]))
    """
    if isinstance(labels, np.ndarray):
        return np.isfinite(labels) if labels.dtype.kind == "f" else labels >= 0
    return tf.math.is_finite(labels) if labels.dtype.is_floating else labels >= 0


def is_informative(labels: Array, groups: Array) -> Array:
    """Rows with a label or a group; the others teach nothing, are not counted, and make nothing forget."""
    return is_labelled(labels) | (groups >= 0)


def missing_label(labels: Array) -> float:
    """What stands for no label among these."""
    floating = labels.dtype.kind == "f" if isinstance(labels, np.ndarray) else labels.dtype.is_floating
    return np.nan if floating else -1
