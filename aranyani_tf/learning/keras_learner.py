"""Any Keras model in the forest's place, behind the interface of `ForestLearner`."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.interfaces import Quantities
from aranyani_tf.learning.losses import losses


def output_width(name: str, part: keras.layers.Layer, num_features: int, dtype: str,
                 wanted: int | None = None) -> int:
    """Builds a predictor or encoder, and gives its number of outputs; raises if nothing can follow on them."""
    if not part.built:
        part.build((None, num_features))
    output = part.compute_output_spec(keras.KerasTensor((None, num_features), dtype))
    if output.dtype != dtype or len(output.shape) != 2 or wanted not in (None, output.shape[1]):
        raise ArgumentError(f"the {name} must give {dtype} of shape (rows, {wanted or 'any'}); it gives {output.dtype} "
                         f"of shape {output.shape}")
    return output.shape[1]


class KerasLearner:
    """Any Keras model that gives probabilities: (batch, feature) → (batch, label)."""

    def __init__(self, predictor: keras.layers.Layer) -> None:
        self.predictor = predictor
        self.variables: Sequence[Any] = predictor.trainable_variables
        self.state: Sequence[Any] = predictor.non_trainable_variables
        self.names: Sequence[str] = tuple(variable.path.replace("/", "_") for variable in self.variables)
        self.num_packed = len(self.variables)

    def gather(self) -> None:
        if list(map(id, self.predictor.trainable_variables)) != list(map(id, self.variables)):
            raise ArgumentError("the running means are those of the weights that learned so far: freeze parts of a "
                             "predictor before the model is built")

    def natural(self) -> list[tf.Tensor]:
        return [variable.value for variable in self.variables]

    def pack(self, arrays: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return list(arrays)

    unpack = pack

    def norms(self, packed: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return list(map(tf.norm, packed))

    def load(self) -> None:
        """The optimizer moves the predictor's own variables: nothing to fill."""

    store = load

    def prepare(self, features: tf.Tensor) -> tf.Tensor:
        return features

    def trace(self, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor], inputs: tf.Tensor,
              labels: tf.Tensor, quantities: Quantities) -> "KerasTrace":
        return KerasTrace(self, weights, state, inputs, labels, quantities)

    def predict(self, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor],
                inputs: tf.Tensor) -> tf.Tensor:
        return self.predictor.stateless_call(weights, state, inputs, training=False)[0]


class KerasTrace:
    """One step's samples in any Keras model; the methods are those of `ForestTrace`."""

    def __init__(self, learner: KerasLearner, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor],
                 inputs: tf.Tensor, labels: tf.Tensor, quantities: Quantities) -> None:
        self.weights = weights
        with tf.GradientTape(persistent=True) as self.tape:
            self.tape.watch(weights)
            self.outputs, self.state = learner.predictor.stateless_call(
                weights, state, inputs, training=True)
            self.losses = losses(self.outputs, labels)
            self.quantities: Sequence[tf.Tensor] = quantities(self.outputs, self.losses)
            self.stacked = tf.stack(self.quantities, axis=1)  # (batch, quantity)
        # Where training makes no difference, XLA finds that it has computed this already.
        self.said = learner.predict(weights, state, inputs)

    def gradients(self, upstream: tf.Tensor) -> list[tf.Tensor]:
        return list(self.tape.gradient(
            self.losses, self.weights, output_gradients=upstream, unconnected_gradients="zero"))

    def jacobians(self) -> list[tf.Tensor]:
        if self.stacked.shape[0] > 1:
            return self.tape.jacobian(self.stacked, self.weights, unconnected_gradients="zero")
        per_quantity = [
            self.tape.gradient(quantity, self.weights, unconnected_gradients="zero")
            for quantity in self.quantities]
        return [tf.stack(parts)[None] for parts in zip(*per_quantity, strict=True)]

