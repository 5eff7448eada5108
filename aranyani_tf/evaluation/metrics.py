"""Accuracy and parity gaps from counts: O(1) memory, exact, and mergeable by addition.

Everything is a function of one table, counts[label, group, prediction]; the last label and the last
group stand for "missing". Tables of two parts of a stream add up to the table of both. The
functions take leading axes, so one call serves a whole grid of models.
"""

import numpy as np
import tensorflow as tf

from aranyani_tf.learning.forest_learner import is_informative

FEW = 1000  # rows below which nothing is said about small groups


def tally(labels, groups, predictions, *, num_labels, num_groups, weights=None):
    """The table of counts: (n,), (n,), (n,) → (label + 1, group + 1, label).

    A label or group of −1 is missing; a row without either is not counted. With `weights`, (n, table), there
    are several tables along a new last axis.
    """
    labels, groups = tf.convert_to_tensor(labels), tf.convert_to_tensor(groups)
    weights = tf.ones((tf.size(labels), 1)) if weights is None else weights
    label = tf.one_hot(tf.where(labels >= 0, labels, num_labels), num_labels + 1)
    group = tf.one_hot(tf.where(groups >= 0, groups, num_groups), num_groups + 1)
    prediction = tf.one_hot(predictions, num_labels)[:, :, None] * weights[:, None, :]  # (n, prediction, table)
    prediction = tf.where(is_informative(labels, groups)[:, None, None], prediction, 0.0)
    tables = tf.einsum("nl,ng,npt->lgpt", label, group, prediction)
    return tables if tables.shape[-1] != 1 else tables[..., 0]


def accuracy(counts):
    """Share of labelled rows that were predicted right."""
    known = counts[..., :-1, :, :]
    right = tf.linalg.trace(tf.reduce_sum(known, axis=-2))
    return ratio(right, tf.reduce_sum(known, axis=(-3, -2, -1)))


def demographic_parity(counts):
    """Largest difference between groups of P(ŷ | group), over predictions."""
    return largest_gap(tf.reduce_sum(counts[..., :, :-1, :], axis=-3))


def equal_opportunity(counts, positive_label=1):
    """Difference between groups of P(ŷ = positive | y = positive, group)."""
    table = counts[..., positive_label, :-1, :]
    return largest_gap(table, only=positive_label)


def equalized_odds(counts):
    """Largest difference between groups of P(ŷ | y, group), over predictions and the labels that can be compared."""
    gaps = largest_gap(counts[..., :-1, :-1, :])  # (..., label)
    largest = tf.reduce_max(tf.where(tf.math.is_nan(gaps), tf.constant(-1.0, gaps.dtype), gaps), axis=-1)
    return tf.where(largest < 0, tf.constant(np.nan, gaps.dtype), largest)


def soft_demographic_parity(sums, group_count):
    """Largest difference between groups of E[f | group]: (..., group, label), (..., group)."""
    return spread(ratio(sums, group_count[..., None]), group_count > 0)


def ratio(part, whole):
    """part / whole, and NaN where the whole is 0: what cannot be known is no number."""
    return tf.cast(part, tf.float64) / tf.cast(whole, tf.float64)


def largest_gap(table, only=None):
    """Largest spread over groups of the predictions' shares: (..., group, prediction) → (...)."""
    total = tf.reduce_sum(table, axis=-1)
    rates = ratio(table, total[..., None])
    return spread(rates if only is None else rates[..., only : only + 1], total > 0)


def spread(rates, seen):
    """max − min over the groups seen, then the largest over the last axis; NaN with fewer than two groups."""
    comparable = tf.reduce_sum(tf.cast(seen, tf.int32), axis=-1) > 1
    seen = seen[..., None]
    high = tf.reduce_max(tf.where(seen, rates, tf.constant(-np.inf, rates.dtype)), axis=-2)
    low = tf.reduce_min(tf.where(seen, rates, tf.constant(np.inf, rates.dtype)), axis=-2)
    gap = tf.reduce_max(high - low, axis=-1)
    return tf.where(comparable, gap, tf.constant(np.nan, gap.dtype))


def told_small_groups(counts, deviations=2.0, matters=0.05):
    """A sentence about groups whose gap cannot be told from chance because they are small, or None.

    A group is small if its share of a prediction may be off by more than `matters`, by so many standard errors
    of the share that all rows have, and is not off by more than that.
    """
    table = counts[:, :-1].sum(axis=0)  # (group, prediction)
    rows, everybody = table.sum(axis=1), table.sum(axis=0) / max(table.sum(), 1)
    found = []
    for group in np.flatnonzero(rows):
        chance = deviations * np.sqrt(everybody * (1 - everybody) / rows[group])
        gap = np.abs(table[group] / rows[group] - everybody)
        if chance.max() > matters and (gap <= chance).all():
            found.append(f"group {group} has {rows[group]:,.0f} row{'s' if rows[group] != 1 else ''}, "
                         f"± {chance.max():.2f}")
    if not found or rows.sum() < FEW:
        return None
    return (f"too few rows to tell a gap from chance ({deviations:g} standard errors): {'; '.join(found)}. The gaps "
            "that are reported may be theirs; chance=2.0 keeps such gaps out of the training, a group of −1 the rows")


def told_signs(counts):
    """A sentence about labels that came as 1 or missing and never as 0, or None: they may be −1 and 1."""
    of_label = counts.sum(axis=(1, 2))
    if len(of_label) != 3 or of_label[0] or not (of_label[1] and of_label[2]):
        return None
    return (f"of {of_label.sum():,.0f} labels {of_label[1]:,.0f} were 1, the others −1, and none 0. −1 stands for a "
            "missing label; if it is the other label, use 0 for it: labels = (labels + 1) // 2")
