"""Checks of arguments, with errors that name them."""

import numpy as np


def require_whole(name, value, low, high=None):
    """Raises unless `value` is a whole number between `low` and `high`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        wanted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {wanted}, got {value!r}")


def require_choice(name, value, choices):
    """Raises unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def require_fairness_weight(value):
    """Raises unless λ is a finite number of at least 0."""
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(f"fairness_weight must be a finite number of at least 0, got {value!r}")
