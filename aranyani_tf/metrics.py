"""Accuracy and parity gaps from counts: O(1) memory, exact, and mergeable by addition.

Everything is a function of one table, counts[label, group, prediction]; the last label and the last
group stand for "missing". Tables of two parts of a stream add up to the table of both. The
functions take leading axes, so one call serves a whole grid of models.
"""

import keras
import numpy as np
import tensorflow as tf

FEW = 1000  # rows from which nothing is said about small groups
RECENT = 2000  # rows after which one counts e⁻¹ of what it did in the recent past


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


def is_informative(labels, groups):
    """Rows with a label or a group; the others are not counted, nor do they make anything forget."""
    return (tf.math.is_finite(labels) if labels.dtype.is_floating else labels >= 0) | (groups >= 0)


def fading(labels, groups):
    """Each row's weight in the recent past, (n,), and what remains of the past before these rows.

    Rows behind the last informative one are padding.
    """
    position = tf.range(1, tf.size(labels) + 1)
    last = tf.reduce_max(tf.where(is_informative(labels, groups), position, 0))
    age = tf.cast(tf.maximum(last - position, 0), tf.float32)
    return (1 - 1 / RECENT) ** age, (1 - 1 / RECENT) ** tf.cast(last, tf.float64)


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
            found.append(f"group {group} has {rows[group]:,.0f} rows, ± {chance.max():.2f}")
    if not found or rows.sum() < FEW:
        return None
    return (f"too few rows to tell a gap from chance ({deviations:g} standard errors): {'; '.join(found)}. The gaps "
            "that are reported may be theirs; chance=2.0 keeps such gaps out of the training, a group of −1 the rows")


class Prequential(keras.metrics.Metric):
    """Every metric of a classifier on a stream, as one Keras metric with a dict for its result.

    `recent_…` are of the recent past, in which a row counts half as much as one that came 1,386 rows later
    (e⁻¹ after 2,000): gaps that change sign cancel out over a whole stream. NaN is what cannot be known: a gap
    while one group was seen, accuracy without labels.

    >>> metric = Prequential(num_labels=2, num_groups=2)
    >>> metric.update_state([1, 0, 1, 0], [0, 0, 1, 1], [[.2, .8], [.9, .1], [.4, .6], [.7, .3]])
    >>> {name: round(float(value), 3) for name, value in metric.result().items()}
    {'accuracy': 1.0, 'demographic_parity': 0.0, 'soft_demographic_parity': 0.0, 'equal_opportunity': 0.0,
     'equalized_odds': 0.0, 'recent_accuracy': 1.0, 'recent_demographic_parity': 0.0}
    """

    def __init__(self, num_labels=2, num_groups=2, positive_label=1, name="prequential", **kwargs):
        super().__init__(name=name, **kwargs)
        self.num_labels, self.num_groups, self.positive_label = num_labels, num_groups, positive_label
        table = (num_labels + 1, num_groups + 1, num_labels)
        self.counts = self.add_variable(table, "zeros", dtype="float64", name="counts")
        self.sums = self.add_variable((num_groups, num_labels), "zeros", dtype="float64", name="sums")
        self.recent = self.add_variable(table, "zeros", dtype="float64", name="recent")

    def update_state(self, labels, groups, outputs):
        """Adds rows: (n,), (n,) and the probabilities (n, label)."""
        labels, groups, outputs = map(tf.convert_to_tensor, (labels, groups, outputs))
        weights, kept = fading(labels, groups)
        # A row that was answered by NaN has no prediction; its weight makes NaN of all that it counts for.
        answered = tf.where(tf.reduce_all(tf.math.is_finite(outputs), axis=-1), 1.0, np.nan)
        tables = tally(labels, groups, tf.argmax(outputs, axis=-1, output_type=tf.int32), num_labels=self.num_labels,
                       num_groups=self.num_groups, weights=tf.stack([answered, answered * weights], axis=1))
        in_group = tf.one_hot(groups, self.num_groups, dtype=outputs.dtype)  # (n, group)
        sums = tf.matmul(in_group, outputs, transpose_a=True)
        self.counts.assign_add(tf.cast(tables[..., 0], tf.float64))
        self.recent.assign(kept * self.recent.value + tf.cast(tables[..., 1], tf.float64))
        self.sums.assign_add(tf.cast(sums, tf.float64))

    def result(self):
        counts, recent = self.counts.value, self.recent.value
        group_count = tf.reduce_sum(counts, axis=(0, 2))[:-1]
        results = {
            "accuracy": accuracy(counts),
            "demographic_parity": demographic_parity(counts),
            "soft_demographic_parity": soft_demographic_parity(self.sums.value, group_count),
            "equal_opportunity": equal_opportunity(counts, self.positive_label),
            "equalized_odds": equalized_odds(counts),
            "recent_accuracy": accuracy(recent),
            "recent_demographic_parity": demographic_parity(recent)}
        return {name: tf.cast(value, tf.float32) for name, value in results.items()}


class RegressionPrequential(keras.metrics.Metric):
    """Mean squared error and the gap between the groups' mean predictions, of all rows and of the recent past."""

    def __init__(self, num_groups=2, name="prequential", **kwargs):
        super().__init__(name=name, **kwargs)
        self.num_groups = num_groups
        # Of all rows, and of the recent past: sums, and the counts that belong to them.
        self.errors = self.add_variable((2, 2), "zeros", dtype="float64", name="errors")
        self.sums = self.add_variable((2, num_groups, 2), "zeros", dtype="float64", name="sums")

    def update_state(self, labels, groups, outputs):
        labels, groups = tf.convert_to_tensor(labels), tf.convert_to_tensor(groups)
        values = tf.cast(tf.convert_to_tensor(outputs)[:, 0], tf.float64)
        known = tf.math.is_finite(labels)
        error = tf.where(known, tf.cast(labels, tf.float64) - values, 0.0) ** 2
        fade, kept = fading(labels, groups)
        weights = tf.stack([tf.ones_like(values), tf.cast(fade, tf.float64)])  # (2, n)
        kept = tf.stack([tf.ones_like(kept), kept])
        errors = tf.matmul(weights, tf.stack([error, tf.cast(known, tf.float64)], axis=1))
        in_group = tf.one_hot(groups, self.num_groups, dtype=tf.float64)  # (n, group)
        in_group = tf.stack([tf.where(in_group > 0, values[:, None], 0.0), in_group], axis=-1)
        self.errors.assign(kept[:, None] * self.errors.value + errors)
        self.sums.assign(kept[:, None, None] * self.sums.value + tf.einsum("wn,ngs->wgs", weights, in_group))

    def result(self):
        errors, sums = self.errors.value, self.sums.value
        error = ratio(errors[:, 0], errors[:, 1])
        gap = soft_demographic_parity(sums[..., :1], sums[..., 1])
        results = {"mean_squared_error": error[0], "demographic_parity": gap[0],
                   "recent_mean_squared_error": error[1], "recent_demographic_parity": gap[1]}
        return {name: tf.cast(value, tf.float32) for name, value in results.items()}


class Mean(keras.metrics.Metric):
    """A weighted mean that counts in float64: float32 stops at 2²⁴ rows."""

    def __init__(self, name="mean", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_variable((2,), "zeros", dtype="float64", name="total")  # sum, weight

    def update_state(self, values, weights):
        values, weights = (tf.cast(part, tf.float64) for part in (values, weights))
        self.total.assign_add(tf.stack([tf.reduce_sum(values * weights), tf.reduce_sum(weights)]))

    def result(self):
        return tf.cast(ratio(self.total.value[0], self.total.value[1]), tf.float32)


class Latest(keras.metrics.Metric):
    """The last value that it was given."""

    def __init__(self, name="latest", **kwargs):
        super().__init__(name=name, **kwargs)
        self.last = self.add_variable((), "zeros", name="last")

    def update_state(self, value):
        self.last.assign(tf.cast(value, self.last.dtype))

    def result(self):
        return tf.identity(self.last.value)  # eagerly `value` is the variable itself
