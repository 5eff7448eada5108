"""From predictions to the tables that metrics are functions of.

`tally` is part of a compiled program, and of one model; `ClassTally` and `RegressionTally` take the rows of
many models in NumPy, which does a few thousand of them sooner.
"""

from typing import Protocol

import numpy as np
import tensorflow as tf

from aranyani_tf.evaluation.metrics import Tables, class_metrics, ratio, soft_demographic_parity
from aranyani_tf.labels import is_informative, is_labelled


def tally(labels: tf.Tensor, groups: tf.Tensor, predictions: tf.Tensor, *, num_labels: int, num_groups: int,
          weights: tf.Tensor | None = None) -> tf.Tensor:
    """The table of counts: (n,), (n,), (n,) → (label + 1, group + 1, label).

    A label or group of −1 is missing; a row without either is not counted. With `weights`, (n, table), there
    are several tables along a new last axis.
    """
    labels, groups = tf.convert_to_tensor(labels), tf.convert_to_tensor(groups)
    weights = tf.ones((tf.size(labels), 1)) if weights is None else weights
    label = tf.one_hot(tf.where(is_labelled(labels), labels, num_labels), num_labels + 1)
    group = tf.one_hot(tf.where(groups >= 0, groups, num_groups), num_groups + 1)
    prediction = tf.one_hot(predictions, num_labels)[:, :, None] * weights[:, None, :]  # (n, prediction, table)
    prediction = tf.where(is_informative(labels, groups)[:, None, None], prediction, 0.0)
    tables = tf.einsum("nl,ng,npt->lgpt", label, group, prediction)
    return tables if tables.shape[-1] != 1 else tables[..., 0]


class Tally(Protocol):
    """Tables of a stretch of the stream for many models, and the metrics that can be told from them."""

    def shapes(self) -> dict[str, tuple[int, ...]]: ...

    def tables(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> dict[str, np.ndarray]:
        """(row, model), (row, model), (row, model, label) → named tables, model first."""
        ...

    def measured(self, tables: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Every metric, for tables with any leading axes."""
        ...


class ClassTally:
    """The tables of a classifier."""

    def __init__(self, num_labels: int, num_groups: int, positive_label: int = 1) -> None:
        self.num_labels, self.num_groups, self.positive_label = num_labels, num_groups, positive_label
        self.metrics = class_metrics()

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"counts": (self.num_labels + 1, self.num_groups + 1, self.num_labels),
                "sums": (self.num_groups, self.num_labels)}

    def tables(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> dict[str, np.ndarray]:
        num_models, (wide, deep, long) = labels.shape[1], self.shapes()["counts"]
        label = np.where(is_labelled(labels), labels, wide - 1)
        group = np.where(groups >= 0, groups, deep - 1)
        cell = ((np.arange(num_models) * wide + label) * deep + group) * long + outputs.argmax(axis=-1)
        counts = np.bincount(cell[is_informative(labels, groups)], minlength=num_models * wide * deep * long)
        answered = np.isfinite(outputs).all(axis=(0, 2))  # a model that said NaN has no metrics from there on
        in_group = groups[:, :, None] == np.arange(self.num_groups)  # (row, model, group)
        return {"counts": np.where(answered[:, None, None, None],
                                   counts.astype("float64").reshape(num_models, wide, deep, long), np.nan),
                "sums": np.einsum("nmg,nml->mgl", in_group.astype("float64"), outputs)}

    def measured(self, tables: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        found = Tables(tables["counts"], tables["sums"], self.positive_label)
        return {name: np.asarray(metric(found)) for name, metric in self.metrics.items()}


class RegressionTally:
    """Sums of squared errors and of predictions."""

    def __init__(self, num_groups: int) -> None:
        self.num_groups = num_groups

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"errors": (2,), "sums": (self.num_groups, 2)}

    def tables(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> dict[str, np.ndarray]:
        values, known = outputs[:, :, 0].astype("float64"), is_labelled(labels)
        errors = np.where(known, labels - values, 0) ** 2
        in_group = groups[:, :, None] == np.arange(self.num_groups)  # (row, model, group)
        sums = np.where(in_group, values[:, :, None], 0).sum(axis=0)  # (model, group)
        return {"errors": np.stack([errors.sum(axis=0), known.sum(axis=0)], axis=-1),
                "sums": np.stack([sums, in_group.sum(axis=0)], axis=-1)}

    def measured(self, tables: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        found = regression_metrics(tables["errors"], tables["sums"])
        return {name: value.numpy() for name, value in found.items()}


def regression_metrics(errors: tf.Tensor, sums: tf.Tensor) -> dict[str, tf.Tensor]:
    """Of (…, [squared error, rows]) and (…, group, [prediction, rows])."""
    return {"mean_squared_error": ratio(errors[..., 0], errors[..., 1]),
            "demographic_parity": soft_demographic_parity(sums[..., :1], sums[..., 1])}


def tally_for(num_labels: int, num_groups: int, positive_label: int = 1) -> Tally:
    """1 label is regression."""
    if num_labels == 1:
        return RegressionTally(num_groups)
    return ClassTally(num_labels, num_groups, positive_label)
