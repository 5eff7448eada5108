"""Accuracy and parity gaps from counts: O(1) memory, exact, and mergeable by addition.

Everything is a function of one table, counts[label, group, prediction]; the last label and the last
group stand for "missing". Tables of two parts of a stream add up to the table of both. The
functions take leading axes, so one call serves a whole grid of models.
"""

import keras
import numpy as np
import tensorflow as tf


def tally(labels, groups, predictions, *, num_labels, num_groups):
    """The table of counts: (n,), (n,), (n,) → (label + 1, group + 1, label).

    A label or group of −1 is missing; a row without either is not counted.
    """
    labels, groups = tf.convert_to_tensor(labels), tf.convert_to_tensor(groups)
    counted = tf.cast((labels >= 0) | (groups >= 0), tf.float32)
    label = tf.one_hot(tf.where(labels >= 0, labels, num_labels), num_labels + 1)
    group = tf.one_hot(tf.where(groups >= 0, groups, num_groups), num_groups + 1)
    prediction = tf.one_hot(predictions, num_labels) * counted[:, None]
    return tf.einsum("nl,ng,np->lgp", label, group, prediction)


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
    """Largest difference between groups of P(ŷ | y, group), over labels and predictions."""
    return tf.reduce_max(largest_gap(counts[..., :-1, :-1, :]), axis=-1)


def soft_demographic_parity(sums, group_count):
    """Largest difference between groups of E[f | group]: (..., group, label), (..., group)."""
    return spread(ratio(sums, group_count[..., None]), group_count > 0)


def ratio(part, whole):
    """part / whole, and 0 where the whole is 0."""
    return tf.math.divide_no_nan(tf.cast(part, tf.float64), tf.cast(whole, tf.float64))


def largest_gap(table, only=None):
    """Largest spread over groups of the predictions' shares: (..., group, prediction) → (...)."""
    total = tf.reduce_sum(table, axis=-1)
    rates = ratio(table, total[..., None])
    return spread(rates if only is None else rates[..., only : only + 1], total > 0)


def spread(rates, seen):
    """max − min over the groups seen, then the largest over the last axis."""
    seen = seen[..., None]
    high = tf.reduce_max(tf.where(seen, rates, tf.constant(-np.inf, rates.dtype)), axis=-2)
    low = tf.reduce_min(tf.where(seen, rates, tf.constant(np.inf, rates.dtype)), axis=-2)
    gap = tf.reduce_max(high - low, axis=-1)
    return tf.where(tf.math.is_finite(gap), gap, tf.zeros_like(gap))


class Prequential(keras.metrics.Metric):
    """Every metric of a classifier on a stream, as one Keras metric with a dict for its result.

    >>> metric = Prequential(num_labels=2, num_groups=2)
    >>> metric.update_state([1, 0, 1, 0], [0, 0, 1, 1], [[.2, .8], [.9, .1], [.4, .6], [.7, .3]])
    >>> {name: round(float(value), 3) for name, value in metric.result().items()}
    {'accuracy': 1.0, 'demographic_parity': 0.0, 'soft_demographic_parity': 0.0,
     'equal_opportunity': 0.0, 'equalized_odds': 0.0}
    """

    def __init__(self, num_labels=2, num_groups=2, positive_label=1, name="prequential", **kwargs):
        super().__init__(name=name, **kwargs)
        self.num_labels, self.num_groups, self.positive_label = num_labels, num_groups, positive_label
        table = (num_labels + 1, num_groups + 1, num_labels)
        self.counts = self.add_variable(table, "zeros", dtype="float64", name="counts")
        self.sums = self.add_variable((num_groups, num_labels), "zeros", dtype="float64", name="sums")

    def update_state(self, labels, groups, outputs):
        """Adds rows: (n,), (n,) and the probabilities (n, label)."""
        outputs = tf.convert_to_tensor(outputs)
        table = tally(labels, groups, tf.argmax(outputs, axis=-1, output_type=tf.int32),
                      num_labels=self.num_labels, num_groups=self.num_groups)
        in_group = tf.one_hot(groups, self.num_groups, dtype=outputs.dtype)  # (n, group)
        sums = tf.matmul(in_group, outputs, transpose_a=True)
        self.counts.assign_add(tf.cast(table, tf.float64))
        self.sums.assign_add(tf.cast(sums, tf.float64))

    def result(self):
        counts = self.counts.value
        group_count = tf.reduce_sum(counts, axis=(0, 2))[:-1]
        results = {
            "accuracy": accuracy(counts),
            "demographic_parity": demographic_parity(counts),
            "soft_demographic_parity": soft_demographic_parity(self.sums.value, group_count),
            "equal_opportunity": equal_opportunity(counts, self.positive_label),
            "equalized_odds": equalized_odds(counts)}
        return {name: tf.cast(value, tf.float32) for name, value in results.items()}


class RegressionPrequential(keras.metrics.Metric):
    """Mean squared error and the gap between the groups' mean predictions."""

    def __init__(self, num_groups=2, name="prequential", **kwargs):
        super().__init__(name=name, **kwargs)
        self.num_groups = num_groups
        self.errors = self.add_variable((2,), "zeros", dtype="float64", name="errors")  # sum, count
        self.sums = self.add_variable((num_groups, 2), "zeros", dtype="float64", name="sums")

    def update_state(self, labels, groups, outputs):
        values = tf.cast(tf.convert_to_tensor(outputs)[:, 0], tf.float64)
        labels = tf.cast(labels, tf.float64)
        known = tf.math.is_finite(labels)
        error = tf.where(known, labels - values, tf.zeros_like(values)) ** 2
        self.errors.assign_add(
            tf.stack([tf.reduce_sum(error), tf.reduce_sum(tf.cast(known, tf.float64))]))
        in_group = tf.one_hot(groups, self.num_groups, dtype=tf.float64)
        self.sums.assign_add(tf.stack(
            [tf.reduce_sum(in_group * values[:, None], 0), tf.reduce_sum(in_group, 0)], axis=1))

    def result(self):
        sums, count = self.sums.value[:, :1], self.sums.value[:, 1]
        results = {"mean_squared_error": ratio(self.errors.value[0], self.errors.value[1]),
                   "demographic_parity": soft_demographic_parity(sums, count)}
        return {name: tf.cast(value, tf.float32) for name, value in results.items()}


class Latest(keras.metrics.Metric):
    """The last value that it was given."""

    def __init__(self, name="latest", **kwargs):
        super().__init__(name=name, **kwargs)
        self.last = self.add_variable((), "zeros", name="last")

    def update_state(self, value):
        self.last.assign(tf.cast(value, self.last.dtype))

    def result(self):
        return self.last.value
