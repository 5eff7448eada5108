"""What the optimizer sees: a predictor's weights as tensors, its outputs, and their gradients.

A learner holds the variables that the optimizer moves. Given their values and a few samples it
leaves a *trace*: the outputs, the losses, and a way to differentiate either. All of it is a pure
function of the weights, so that many models can be traced at once.

`ForestLearner` differentiates down to the nodes' logits z only. What lies below is an outer
product with the features, ∂z/∂W = xᵀ, so the large arrays are touched once.
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.forest import packing
from aranyani_tf.forest.oblique_forest import ObliqueForest
from aranyani_tf.interfaces import Quantities
from aranyani_tf.learning.losses import losses


class ForestLearner:
    """A forest, with or without an encoder in front of it."""

    names: Sequence[str] = ("node_kernel", "node_bias", "leaf_logits")
    num_packed = 2

    def __init__(self, forest: ObliqueForest, encoder: keras.layers.Layer | None = None) -> None:
        self.forest, self.encoder = forest, encoder
        self.shape = (forest.num_trees, forest.num_nodes)
        # Optimizers move variables, so the packed weights are variables of their own. They are
        # filled from the layer before a chunk and put back after it: no state lives in them.
        self.packed = [
            keras.Variable(weight, trainable=True, dtype=weight.dtype.name, name=name)
            for weight, name in zip(self.pack(self.natural()), ("matrix", "leaf_logits"), strict=True)]
        self.gather()

    def gather(self) -> None:
        """Which variables learn; as everywhere in Keras, freezing an encoder takes effect with `compile`."""
        if not self.forest.trainable:
            raise ArgumentError("the forest cannot be frozen, only an encoder can; to learn nothing, call predict")
        below = self.encoder.trainable_variables if self.encoder else []
        self.variables: Sequence[Any] = self.packed + below
        self.state: Sequence[Any] = self.encoder.non_trainable_variables if self.encoder else []

    def natural(self) -> list[tf.Tensor]:
        return [weight.value for weight in self.forest.weights]

    def pack(self, arrays: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Arrays shaped as the forest's weights (leading axes allowed), in the loop's packing."""
        kernel, bias, leaf_logits = arrays
        return [packing.pack_matrix(kernel, bias), leaf_logits]

    def unpack(self, arrays: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        matrix, leaf_logits = arrays
        return [*packing.unpack_matrix(matrix, *self.shape), leaf_logits]

    def norms(self, packed: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """The norm of each weight's gradient; its idle columns are zero."""
        matrix, leaf_logits = packed
        return [tf.norm(matrix[:-1]), tf.norm(matrix[-1]), tf.norm(leaf_logits)]

    def load(self) -> None:
        """Fills the packed weights from the layer."""
        for variable, value in zip(self.packed, self.pack(self.natural()), strict=True):
            variable.assign(value)

    def store(self) -> None:
        """Puts the packed weights back into the layer."""
        unpacked = self.unpack([variable.value for variable in self.packed])
        for weight, value in zip(self.forest.weights, unpacked, strict=True):
            weight.assign(value)

    def prepare(self, features: tf.Tensor) -> tf.Tensor:
        """What a chunk's features become before the loop begins: (..., feature) → (..., input)."""
        return features if self.encoder else packing.with_constant(features)

    def trace(self, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor], inputs: tf.Tensor,
              labels: tf.Tensor, quantities: Quantities) -> "ForestTrace":
        return ForestTrace(self, weights, state, inputs, labels, quantities)

    def predict(self, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor],
                inputs: tf.Tensor) -> tf.Tensor:
        """What the model says when it is not learning (no dropout, say): (batch, label)."""
        matrix, leaf_logits, *encoder_weights = weights
        if self.encoder:
            encoded, _ = self.encoder.stateless_call(encoder_weights, state, inputs, training=False)
            inputs = packing.with_constant(encoded)
        slots = tf.matmul(inputs, matrix)
        nodes = (packing.unpack_nodes(part, *self.shape) for part in (slots, self.forest.activation(slots)))
        return self.forest.read_leaves(self.forest.route(*nodes), leaf_logits)


class ForestTrace:
    """One step's samples in the forest.

    Args:
        weights, state: values of the learner's variables and of its non-trainable state.
        inputs, labels: the prepared features, (batch, input), and (batch,).
        quantities: (outputs, losses) → list of (batch,), what will be differentiated per sample.
    """

    def __init__(self, learner: ForestLearner, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor],
                 inputs: tf.Tensor, labels: tf.Tensor, quantities: Quantities) -> None:
        forest, given = learner.forest, inputs
        matrix, leaf_logits, *self.encoder_weights = weights
        self.matrix, self.state = matrix, state
        if learner.encoder:
            with tf.GradientTape() as self.encoder_tape:
                self.encoder_tape.watch(self.encoder_weights)
                self.encoded, self.state = learner.encoder.stateless_call(
                    self.encoder_weights, state, inputs, training=True)
            inputs = packing.with_constant(self.encoded)
        self.inputs = inputs  # (batch, input)
        self.slots = tf.matmul(inputs, matrix)  # (batch, slot): z = w·x + b
        # One copy of the leaves for each sample makes their gradients come out per sample.
        self.leaf_logits = tf.repeat(leaf_logits[None], inputs.shape[0], axis=0)
        with tf.GradientTape(persistent=True) as self.tape:
            self.tape.watch([self.slots, self.leaf_logits])
            self.decisions = forest.activation(self.slots)  # (batch, slot): n = g(z)
            self.leaf_probabilities = forest.route(  # (batch, tree, leaf)
                *(packing.unpack_nodes(part, *learner.shape) for part in (self.slots, self.decisions)))
            self.outputs = forest.read_leaves(self.leaf_probabilities, self.leaf_logits)
            self.losses = losses(self.outputs, labels)
            self.quantities: Sequence[tf.Tensor] = quantities(self.outputs, self.losses)
        self.slopes = self.tape.gradient(self.decisions, self.slots)  # (batch, slot): g′(z)
        # A forest says the same while it learns; an encoder may not.
        self.said = learner.predict(weights, state, given) if learner.encoder else self.outputs

    def gradients(self, upstream: tf.Tensor) -> list[tf.Tensor]:
        """Gradient of Σ upstream·loss for every variable of the learner; upstream is (batch,)."""
        slots, leaf_logits = self.tape.gradient(
            self.losses, [self.slots, self.leaf_logits], output_gradients=upstream)
        gradients = [packing.sum_of_outer(self.inputs, slots), tf.reduce_sum(leaf_logits, axis=0)]
        if self.encoder_weights:
            below = tf.matmul(slots, self.matrix[:-1], transpose_b=True)  # (batch, feature)
            gradients += self.encoder_tape.gradient(
                self.encoded, self.encoder_weights, below, unconnected_gradients="zero")
        return gradients

    def jacobians(self) -> list[tf.Tensor]:
        """Gradient of every quantity of every sample: for each weight (batch, quantity, *weight)."""
        per_quantity = [
            self.tape.gradient(quantity, [self.slots, self.leaf_logits])
            for quantity in self.quantities]
        slots, leaf_logits = (tf.stack(parts, axis=1) for parts in zip(*per_quantity, strict=True))
        slots = packing.computed_once(slots)  # (batch, quantity, slot)
        return [self.inputs[:, None, :, None] * slots[:, :, None, :], leaf_logits]
