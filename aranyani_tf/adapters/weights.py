"""How much a row counts, as River's `w` and scikit-learn's `sample_weight` say it."""

from typing import Any

import numpy as np

from aranyani_tf.errors import ArgumentError


def weights_of(name: str, weights: Any, num_rows: int) -> np.ndarray | None:
    """The weight of each row, (row,); None if every row counts once.

    Args:
        weights: one number for all, or one for each row; None is 1.

    >>> weights_of("w", 2, num_rows=3)
    array([2., 2., 2.])
    """
    if weights is None:
        return None
    try:
        given = np.asarray(weights, "float64")
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be numbers, got {weights!r}") from None
    if given.ndim and given.shape != (num_rows,):
        raise ArgumentError(f"{name} must have shape ({num_rows},), one for each row; got {given.shape}")
    bad = ~(np.isfinite(given) & (given >= 0))
    if bad.any():
        raise ArgumentError(f"{name} must be finite and at least 0; got {given.ravel()[np.argmax(bad)]}")
    return None if (given == 1).all() else np.broadcast_to(given, (num_rows,)).copy()
