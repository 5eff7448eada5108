"""What rows weigh: a finite number from 0 on; a row of weight 0 teaches nothing, as one without label and group."""

import numpy as np

from aranyani_tf.labels import missing_label

NOTHING = 1e-30  # a weight that is none: what is smaller may become 0 on its way through the model
LARGEST = 1e18  # as of a feature


def is_bad_weight(weights: np.ndarray) -> np.ndarray:
    return ~((weights >= 0) & (weights < LARGEST))


def told_weight(weight: float) -> str:
    """A sentence about a weight that cannot be used."""
    return f"sample_weight is {weight}, must be finite, at least 0, and less than {LARGEST:.0e}"


def all_teach(weights: np.ndarray) -> bool:
    """Whether no row has weight 0."""
    return bool((weights > NOTHING).all())


def without_weightless(labels: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Labels and groups, missing where the weight is 0; the weights are then 1 there, and all more than 0.

    >>> without_weightless(np.array([1, 0]), np.array([0, 1]), np.array([2.5, 0.0]))
    (array([ 1, -1]), array([ 0, -1]), array([2.5, 1. ]))
    """
    if all_teach(weights):
        return labels, groups, weights
    teaches = weights > NOTHING
    missing = labels.dtype.type(missing_label(labels))
    return np.where(teaches, labels, missing), np.where(teaches, groups, groups.dtype.type(-1)), (
        np.where(teaches, weights, 1.0))
