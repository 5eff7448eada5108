"""Keras's metrics for binary outputs, such as AUC, on a model that gives a probability for each label."""

from typing import Any, Self

import keras
import tensorflow as tf

from aranyani_tf.errors import ArgumentError

BINARY = (
    keras.metrics.AUC, keras.metrics.Precision, keras.metrics.Recall, keras.metrics.TruePositives,
    keras.metrics.TrueNegatives, keras.metrics.FalsePositives, keras.metrics.FalseNegatives,
    keras.metrics.SensitivityAtSpecificity, keras.metrics.SpecificityAtSensitivity,
    keras.metrics.PrecisionAtRecall, keras.metrics.RecallAtPrecision, keras.metrics.BinaryAccuracy,
    keras.metrics.BinaryCrossentropy, keras.metrics.Hinge, keras.metrics.BinaryIoU)

NEED_ARGUMENTS = BINARY[7:11]


@keras.saving.register_keras_serializable("aranyani_tf")
class OfLabel(keras.metrics.Metric):
    """A binary metric of one label against all others.

    >>> metric = OfLabel(keras.metrics.AUC(), label=1)
    >>> metric.update_state([0, 1, 1], [[.9, .1], [.2, .8], [.4, .6]])
    >>> float(metric.result())
    1.0
    """

    def __init__(self, metric: keras.metrics.Metric, label: int = 1, name: str | None = None,
                 **kwargs: Any) -> None:
        super().__init__(name=name or metric.name, **kwargs)
        self.metric, self.label = metric, label

    def update_state(self, labels: tf.Tensor, outputs: tf.Tensor,
                     sample_weight: tf.Tensor | None = None) -> None:
        is_it = tf.cast(tf.equal(tf.cast(labels, tf.int32), self.label), tf.float32)
        probabilities = tf.convert_to_tensor(outputs)[:, self.label]
        self.metric.update_state(is_it, probabilities, sample_weight=sample_weight)

    def result(self) -> tf.Tensor:
        return self.metric.result()

    def reset_state(self) -> None:
        self.metric.reset_state()

    @property
    def variables(self) -> list[keras.Variable]:
        return self.metric.variables

    def get_config(self) -> dict[str, Any]:
        metric = keras.saving.serialize_keras_object(self.metric)
        return super().get_config() | {"metric": metric, "label": self.label}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**(config | {"metric": keras.saving.deserialize_keras_object(config["metric"])}))


def fitting(metric: str | keras.metrics.Metric, num_labels: int,
            positive_label: int) -> str | keras.metrics.Metric:
    """The metric as a model with so many labels can feed it: binary ones look at the positive label alone."""
    if isinstance(metric, str):  # "Precision", "precision", "binary_accuracy" and the like
        plain = metric.replace("_", "").lower()
        kinds = [kind for kind in BINARY if kind.__name__.lower() == plain and kind not in NEED_ARGUMENTS]
        metric = kinds[0]() if kinds else metric
    return OfLabel(metric, positive_label) if num_labels == 2 and isinstance(metric, BINARY) else metric


def checked_metrics(metrics: Any) -> list[Any]:
    """A list of Keras's metrics, or of their names, or None, as a list; raises if it is anything else."""
    if not isinstance(metrics, (list, tuple, type(None))):
        raise ArgumentError(f"metrics must be a list of Keras's metrics or their names, got {metrics!r}")
    for metric in metrics or []:
        try:
            keras.metrics.get(metric)  # which knows every name
        except (ValueError, TypeError, KeyError) as error:
            raise ArgumentError(f"metrics must be Keras's or their names, got {metric!r}: {error}") from error
    return list(metrics or [])
