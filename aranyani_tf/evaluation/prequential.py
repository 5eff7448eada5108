"""The metrics of a stream as Keras metrics: of all rows so far, and of the recent past."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.evaluation.metrics import Metric, Tables, class_metrics, ratio
from aranyani_tf.evaluation.row_tallies import Scored, score_classes, score_targets
from aranyani_tf.evaluation.tallies import regression_metrics, tally
from aranyani_tf.labels import is_informative, is_labelled
from aranyani_tf.variables import add, put, value_of

# What is shown of the recent past, too: metrics of the counts alone.
RECENT_METRICS = ("accuracy", "demographic_parity")
RECENT = 2000  # rows after which one counts e⁻¹ of what it did in the recent past


def fading(labels: tf.Tensor, groups: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Each row's weight in the recent past, (n,), and what remains of the past before these rows.

    A row fades with every informative row behind it, so it makes no difference how a stream is cut.
    """
    ranks = tf.cumsum(tf.cast(is_informative(labels, groups), tf.int32))
    age, last = tf.cast(ranks[-1] - ranks, tf.float32), tf.cast(ranks[-1], tf.float64)
    return (1 - 1 / RECENT) ** age, (1 - 1 / RECENT) ** last


class Prequential(keras.metrics.Metric):
    """Every metric of a classifier on a stream, as one Keras metric with a dict for its result.

    `recent_…` are of the recent past, in which a row counts half as much as one that came 1,386 rows later
    (e⁻¹ after 2,000): gaps that change sign cancel out over a whole stream. NaN is what cannot be known: a
    gap while one group was seen, accuracy without labels.

    >>> metric = Prequential(num_labels=2, num_groups=2)
    >>> metric.update_state([1, 0, 1, 0], [0, 0, 1, 1], [[.2, .8], [.9, .1], [.4, .6], [.7, .3]])
    >>> {name: round(float(value), 3) for name, value in metric.result().items()}
    {'accuracy': 1.0, 'demographic_parity': 0.0, 'soft_demographic_parity': 0.0, 'equal_opportunity': 0.0,
     'equalized_odds': 0.0, 'recent_accuracy': 1.0, 'recent_demographic_parity': 0.0}
    """

    def __init__(self, num_labels: int = 2, num_groups: int = 2, positive_label: int = 1,
                 name: str = "prequential", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.num_labels, self.num_groups, self.positive_label = num_labels, num_groups, positive_label
        self.metrics = class_metrics()
        table = (num_labels + 1, num_groups + 1, num_labels)
        self.counts = self.add_variable(table, "zeros", dtype="float64", name="counts")
        self.sums = self.add_variable((num_groups, num_labels), "zeros", dtype="float64", name="sums")
        self.recent = self.add_variable(table, "zeros", dtype="float64", name="recent")

    def update_state(self, labels: tf.Tensor, groups: tf.Tensor, outputs: tf.Tensor) -> None:
        """Adds rows: (n,), (n,) and the probabilities (n, label)."""
        self.absorb(self.increments(labels, groups, outputs))

    def increments(self, labels: tf.Tensor, groups: tf.Tensor, outputs: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """What rows add; computed once, it can be absorbed by several metrics of the same kind."""
        labels, groups, outputs = map(tf.convert_to_tensor, (labels, groups, outputs))
        weights, kept = fading(labels, groups)
        # A row that was answered by NaN has no prediction; its weight makes NaN of all that it counts for.
        answered = tf.where(tf.reduce_all(tf.math.is_finite(outputs), axis=-1), 1.0, np.nan)
        tables = tally(
            labels, groups, tf.argmax(outputs, axis=-1, output_type=tf.int32), num_labels=self.num_labels,
            num_groups=self.num_groups, weights=tf.stack([answered, answered * weights], axis=1))
        in_group = tf.one_hot(groups, self.num_groups, dtype=outputs.dtype)  # (n, group)
        sums = tf.matmul(in_group, outputs, transpose_a=True)
        return (tf.cast(tables[..., 0], tf.float64), tf.cast(sums, tf.float64), tf.cast(tables[..., 1], tf.float64),
                kept)

    def scored(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> Scored:
        """What rows add, by arrays."""
        return score_classes(labels, groups, outputs, self.num_groups, 1 - 1 / RECENT)

    def absorb(self, increments: tuple[Any, ...]) -> None:
        counts, sums, recent, kept = increments
        if isinstance(counts, np.ndarray):
            add(self.counts, counts)
            add(self.sums, sums)
            put(self.recent, kept * value_of(self.recent) + recent)
            return
        self.counts.assign_add(counts)
        self.sums.assign_add(sums)
        self.recent.assign(kept * self.recent.value + recent)

    def result(self) -> dict[str, tf.Tensor]:
        return measured(self.metrics, self.positive_label)(self.counts.value, self.sums.value, self.recent.value)


MEASURED: dict[tuple, Callable] = {}


def measured(metrics: dict[str, Metric], positive_label: int) -> Callable:
    """From tables to every metric, of all rows and of the recent past: one graph for all models of a kind."""
    key = positive_label, *((name, id(metric)) for name, metric in metrics.items())
    if key in MEASURED:
        return MEASURED[key]

    def measure(counts: tf.Tensor, sums: tf.Tensor, recent: tf.Tensor) -> dict[str, tf.Tensor]:
        everything, late = (Tables(each, sums, positive_label) for each in (counts, recent))
        results = {name: metric(everything) for name, metric in metrics.items()}
        results |= {f"recent_{name}": metrics[name](late) for name in RECENT_METRICS}
        return {name: tf.cast(value, tf.float32) for name, value in results.items()}

    MEASURED[key] = tf.function(measure, autograph=False)  # which holds the metrics, so that ids stay theirs
    return MEASURED[key]


class RegressionPrequential(keras.metrics.Metric):
    """Mean squared error and the gap between the groups' mean predictions, of all rows and of the recent past."""

    def __init__(self, num_groups: int = 2, name: str = "prequential", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.num_groups = num_groups
        # Of all rows, and of the recent past: sums, and the counts that belong to them.
        self.errors = self.add_variable((2, 2), "zeros", dtype="float64", name="errors")
        self.sums = self.add_variable((2, num_groups, 2), "zeros", dtype="float64", name="sums")

    def update_state(self, labels: tf.Tensor, groups: tf.Tensor, outputs: tf.Tensor) -> None:
        self.absorb(self.increments(labels, groups, outputs))

    def increments(self, labels: tf.Tensor, groups: tf.Tensor, outputs: tf.Tensor) -> tuple[tf.Tensor, ...]:
        labels, groups = tf.convert_to_tensor(labels), tf.convert_to_tensor(groups)
        values = tf.cast(tf.convert_to_tensor(outputs)[:, 0], tf.float64)
        known = is_labelled(labels)
        error = tf.where(known, tf.cast(labels, tf.float64) - values, 0.0) ** 2
        fade, kept = fading(labels, groups)
        weights = tf.stack([tf.ones_like(values), tf.cast(fade, tf.float64)])  # (2, n)
        kept = tf.stack([tf.ones_like(kept), kept])
        errors = tf.matmul(weights, tf.stack([error, tf.cast(known, tf.float64)], axis=1))
        in_group = tf.one_hot(groups, self.num_groups, dtype=tf.float64)  # (n, group)
        in_group = tf.stack([tf.where(in_group > 0, values[:, None], 0.0), in_group], axis=-1)
        return errors, tf.einsum("wn,ngs->wgs", weights, in_group), kept

    def scored(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> Scored:
        return score_targets(labels, groups, outputs, self.increments(labels, groups, outputs))

    def absorb(self, increments: tuple[tf.Tensor, ...]) -> None:
        errors, sums, kept = increments
        self.errors.assign(kept[:, None] * self.errors.value + errors)
        self.sums.assign(kept[:, None, None] * self.sums.value + sums)

    def result(self) -> dict[str, tf.Tensor]:
        # Each of all rows, and of the recent past.
        found = regression_metrics(self.errors.value, self.sums.value)
        return {prefix + name: tf.cast(value[index], tf.float32)
                for index, prefix in enumerate(("", "recent_")) for name, value in found.items()}


class Mean(keras.metrics.Metric):
    """A weighted mean that counts in float64: float32 stops at 2²⁴ rows."""

    def __init__(self, name: str = "mean", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.total = self.add_variable((2,), "zeros", dtype="float64", name="total")  # sum, weight

    def update_state(self, values: tf.Tensor, weights: tf.Tensor) -> None:
        values, weights = (tf.cast(part, tf.float64) for part in (values, weights))
        self.total.assign_add(tf.stack([tf.reduce_sum(values * weights), tf.reduce_sum(weights)]))

    def absorb(self, sum_and_weight: tuple[float, float]) -> None:
        """Values that were added up already, and how many they are."""
        add(self.total, sum_and_weight)

    def result(self) -> tf.Tensor:
        return tf.cast(ratio(self.total.value[0], self.total.value[1]), tf.float32)


class Latest(keras.metrics.Metric):
    """The last value that it was given."""

    def __init__(self, name: str = "latest", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.last = self.add_variable((), "zeros", name="last")

    def update_state(self, value: tf.Tensor) -> None:
        self.last.assign(tf.cast(value, self.last.dtype))

    def result(self) -> tf.Tensor:
        return tf.identity(self.last.value)  # eagerly `value` is the variable itself
