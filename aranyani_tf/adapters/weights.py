"""How much a row counts, as River's `w` and scikit-learn's `sample_weight` say it."""

from typing import Any

import numpy as np

from aranyani_tf.errors import ArgumentError


def require_ones(name: str, weights: Any, num_rows: int | None = None) -> None:
    """Raises unless every row counts once: other weights are not possible yet.

    Args:
        weights: one number for all, or one for each of `num_rows`; None is 1.

    >>> require_ones("w", 1.0)
    >>> require_ones("w", 2.0)
    Traceback (most recent call last):
    ...
    aranyani_tf.errors.ArgumentError: w must be 1, since every row counts once; got 2.0
    """
    if weights is None or (isinstance(weights, (int, float)) and weights == 1):
        return
    try:
        given = np.asarray(weights, "float64")
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be numbers, got {weights!r}") from None
    if given.ndim and num_rows is not None and given.shape != (num_rows,):
        raise ArgumentError(f"{name} must have shape ({num_rows},), one for each row; got {given.shape}")
    if not (given == 1).all():
        first = given.ravel()[np.argmax(given != 1)]
        raise ArgumentError(f"{name} must be 1, since every row counts once; got {first}")
