"""What is exported: what a model has to have, and its answers as a function with named inputs and outputs."""

from collections.abc import Callable
from typing import Any, Protocol

import tensorflow as tf


class Exportable(Protocol):
    """A built and compiled model: `Aranyani`, or a subclass of it."""

    num_features: int
    num_labels: int
    num_groups: int
    compute_dtype: str
    weights: list
    optimizer: Any
    _fairness_weight: tf.Variable

    def __call__(self, inputs: Any, training: bool = False) -> tf.Tensor:
        """Features (row, feature) → answers (row, label)."""
        ...

    def learn_any(self, features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Learns from rows in order: what was said about each before, and whether all went well."""
        ...

    def moving(self) -> list[Any]:
        """Every variable that learning moves."""
        ...

    def own_method(self, *names: str) -> str | None:
        """The first of these methods that a user has defined anew."""
        ...


def answer_name(model: Exportable) -> str:
    """What the answers, (row, label), are called in every format."""
    return "values" if model.num_labels == 1 else "probabilities"


def features_spec(model: Exportable) -> tf.TensorSpec:
    return tf.TensorSpec((None, model.num_features), model.compute_dtype, name="features")


def answering(model: Exportable) -> Callable[[tf.Tensor], dict[str, tf.Tensor]]:
    """features → {"probabilities": …}, or {"values": …} in regression."""
    def answer(features: tf.Tensor) -> dict[str, tf.Tensor]:
        return {answer_name(model): model(features, training=False)}
    return answer
