"""Accuracy and parity gaps from tables of counts: O(1) memory, exact, and mergeable by addition.

Of a classifier everything is a function of two tables: counts[label, group, prediction], in which the last
label and the last group stand for "missing", and sums[group, label] of its outputs. Tables of two parts of a
stream add up to those of both. The functions take leading axes, so one call serves a whole grid of models;
NaN is what cannot be known.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from aranyani_tf.arguments import require_new
from aranyani_tf.errors import ArgumentError


class Tables(NamedTuple):
    """What is known of a classifier's predictions."""

    counts: tf.Tensor  # (…, label + 1, group + 1, prediction)
    sums: tf.Tensor  # (…, group, label), of the outputs
    positive_label: int = 1  # whose equal opportunity is reported


def accuracy(counts: tf.Tensor) -> tf.Tensor:
    """Share of labelled rows that were predicted right."""
    known = counts[..., :-1, :, :]
    right = tf.linalg.trace(tf.reduce_sum(known, axis=-2))
    return ratio(right, tf.reduce_sum(known, axis=(-3, -2, -1)))


def compared(counts: tf.Tensor, notion: str, positive_label: int = 1) -> tf.Tensor:
    """The part of the counts in which a notion compares the groups: (…, condition, group, prediction).

    Demographic parity asks under no condition, equal opportunity among rows whose label is positive, equalized odds
    under each label in turn.
    """
    of_groups = counts[..., :-1, :]
    if notion == "demographic_parity":
        return tf.reduce_sum(of_groups, axis=-3, keepdims=True)
    if notion == "equal_opportunity":
        return of_groups[..., positive_label : positive_label + 1, :, :]
    return of_groups[..., :-1, :, :]


def demographic_parity(counts: tf.Tensor) -> tf.Tensor:
    """Largest difference between groups of P(ŷ | group), over predictions."""
    return largest_gap(compared(counts, "demographic_parity"))[..., 0]


def equal_opportunity(counts: tf.Tensor, positive_label: int = 1) -> tf.Tensor:
    """Difference between groups of P(ŷ = positive | y = positive, group)."""
    return largest_gap(compared(counts, "equal_opportunity", positive_label), only=positive_label)[..., 0]


def equalized_odds(counts: tf.Tensor) -> tf.Tensor:
    """Largest difference between groups of P(ŷ | y, group), over predictions and the labels that can be compared."""
    gaps = largest_gap(compared(counts, "equalized_odds"))  # (..., label)
    largest = tf.reduce_max(tf.where(tf.math.is_nan(gaps), tf.constant(-1.0, gaps.dtype), gaps), axis=-1)
    return tf.where(largest < 0, tf.constant(np.nan, gaps.dtype), largest)


def soft_demographic_parity(sums: tf.Tensor, group_count: tf.Tensor) -> tf.Tensor:
    """Largest difference between groups of E[f | group]: (..., group, label), (..., group)."""
    return spread(ratio(sums, group_count[..., None]), group_count > 0)


def ratio(part: tf.Tensor, whole: tf.Tensor) -> tf.Tensor:
    """part / whole, and NaN where the whole is 0: what cannot be known is no number."""
    return tf.cast(part, tf.float64) / tf.cast(whole, tf.float64)


def largest_gap(table: tf.Tensor, only: int | None = None) -> tf.Tensor:
    """Largest spread over groups of the predictions' shares: (..., group, prediction) → (...)."""
    total = tf.reduce_sum(table, axis=-1)
    rates = ratio(table, total[..., None])
    return spread(rates if only is None else rates[..., only : only + 1], total > 0)


def spread(rates: tf.Tensor, seen: tf.Tensor) -> tf.Tensor:
    """max − min over the groups seen, then the largest over the last axis; NaN with fewer than two groups."""
    comparable = tf.reduce_sum(tf.cast(seen, tf.int32), axis=-1) > 1
    seen = seen[..., None]
    high = tf.reduce_max(tf.where(seen, rates, tf.constant(-np.inf, rates.dtype)), axis=-2)
    low = tf.reduce_min(tf.where(seen, rates, tf.constant(np.inf, rates.dtype)), axis=-2)
    gap = tf.reduce_max(high - low, axis=-1)
    return tf.where(comparable, gap, tf.constant(np.nan, gap.dtype))


Metric = Callable[[Tables], tf.Tensor]
BUILT_IN: dict[str, Metric] = {
    "accuracy": lambda tables: accuracy(tables.counts),
    "demographic_parity": lambda tables: demographic_parity(tables.counts),
    "soft_demographic_parity": lambda tables: soft_demographic_parity(
        tables.sums, tf.reduce_sum(tables.counts, axis=(-3, -1))[..., :-1]),
    "equal_opportunity": lambda tables: equal_opportunity(tables.counts, tables.positive_label),
    "equalized_odds": lambda tables: equalized_odds(tables.counts)}
REGISTERED: dict[str, Metric] = {}
TAKEN = ("loss", "task_loss", "fairness_penalty", "rows", "step", "model", "seed", "fairness_weight", "probability")
PREFIXES = ("recent_", "late_", "held_out_", "window_", "val_")


def register_metric(name: str, metric: Metric) -> Metric:
    """Adds a metric of classifiers to `fit`, `so_far` and the records, for models that are made afterwards.

    Args:
        metric: function of `Tables`, gives one number for each entry of their leading axes.
    """
    require_new("metric", name, class_metrics(), metric)
    if name in TAKEN or name.startswith(PREFIXES):
        raise ArgumentError(f"a metric cannot be called {name!r}: records or `fit` have something else by that name")
    REGISTERED[name] = metric
    return metric


def class_metrics() -> dict[str, Metric]:
    """Those of this package, then those that were registered."""
    return BUILT_IN | REGISTERED
