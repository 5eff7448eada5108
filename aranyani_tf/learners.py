"""What the optimizer sees: a predictor's weights as tensors, its outputs, and their gradients.

A learner holds the variables that the optimizer moves. Given their values and a few samples it
leaves a *trace*: the outputs, the losses, and a way to differentiate either. All of it is a pure
function of the weights, so that many models can be traced at once.

`ForestLearner` differentiates down to the nodes' logits z only. What lies below is an outer
product with the features, ∂z/∂W = xᵀ, so the large arrays are touched once.
"""

import keras
import tensorflow as tf

from aranyani_tf import layout

SMALLEST_PROBABILITY = 1e-7  # Keras's own: keeps the logarithm finite


def is_labelled(labels):
    """A label is missing when it is −1, or NaN in regression."""
    return tf.math.is_finite(labels) if labels.dtype.is_floating else labels >= 0


def losses(outputs, labels):
    """Cross-entropy, or squared error for one output: (batch, label), (batch,) → (batch,).

    A sample without a label has loss 0.
    """
    if outputs.shape[-1] == 1:
        error = outputs[:, 0] - tf.cast(labels, outputs.dtype)
        return tf.where(is_labelled(labels), error, tf.zeros_like(error)) ** 2
    chosen = tf.reduce_sum(outputs * tf.one_hot(labels, outputs.shape[-1], dtype=outputs.dtype), -1)
    loss = -tf.math.log(tf.maximum(chosen, SMALLEST_PROBABILITY))
    return tf.where(labels >= 0, loss, tf.zeros_like(loss))


class ForestLearner:
    """A forest, with or without an encoder in front of it."""

    names = ("node_kernel", "node_bias", "leaf_logits")

    def __init__(self, forest, encoder=None):
        self.forest, self.encoder = forest, encoder
        self.shape = (forest.num_trees, forest.num_nodes)
        # Optimizers move variables, so the packed weights are variables of their own. They are
        # filled from the layer before a chunk and put back after it: no state lives in them.
        self.packed = [
            keras.Variable(weight, trainable=True, dtype=weight.dtype.name, name=name)
            for weight, name in zip(self.pack(self.natural()), self.names, strict=True)]
        self.variables = self.packed + (encoder.trainable_variables if encoder else [])
        self.state = encoder.non_trainable_variables if encoder else []

    def natural(self):
        forest = self.forest
        return [weight.value for weight in (forest.node_kernel, forest.node_bias, forest.leaf_logits)]

    def pack(self, arrays):
        """Arrays shaped as the forest's weights (leading axes allowed), in the loop's layout."""
        kernel, bias, leaf_logits = arrays
        return [layout.pack_kernel(kernel), layout.pack_nodes(bias), leaf_logits]

    def unpack(self, arrays):
        kernel, bias, leaf_logits = arrays
        return [layout.unpack_kernel(kernel, *self.shape), layout.unpack_nodes(bias, *self.shape),
                leaf_logits]

    def load(self):
        """Fills the packed weights from the layer."""
        for variable, value in zip(self.packed, self.pack(self.natural()), strict=True):
            variable.assign(value)

    def store(self):
        """Puts the packed weights back into the layer."""
        forest = self.forest
        weights = (forest.node_kernel, forest.node_bias, forest.leaf_logits)
        unpacked = self.unpack([variable.value for variable in self.packed])
        for weight, value in zip(weights, unpacked, strict=True):
            weight.assign(value)

    def trace(self, weights, state, features, labels, quantities):
        return ForestTrace(self, weights, state, features, labels, quantities)


class ForestTrace:
    """One step's samples in the forest.

    Args:
        weights, state: values of the learner's variables and of its non-trainable state.
        features, labels: (batch, feature), (batch,).
        quantities: (outputs, losses) → list of (batch,), what will be differentiated per sample.
    """

    def __init__(self, learner, weights, state, features, labels, quantities):
        forest = learner.forest
        kernel, bias, leaf_logits, *self.encoder_weights = weights
        self.kernel, self.state = kernel, state
        if learner.encoder:
            with tf.GradientTape() as self.encoder_tape:
                self.encoder_tape.watch(self.encoder_weights)
                features, self.state = learner.encoder.stateless_call(
                    self.encoder_weights, state, features, training=True)
            if features.shape.rank != 2:
                raise ValueError(
                    f"the encoder must give (batch, feature), it gave {tuple(features.shape)}")
        self.features = features  # (batch, feature)
        self.slots = layout.rows_times(features, kernel) + bias  # (batch, slot): z
        with tf.GradientTape() as tape:
            tape.watch(self.slots)
            self.decisions = forest.activation(self.slots)  # (batch, slot): n = g(z)
        self.slopes = tape.gradient(self.decisions, self.slots)  # (batch, slot): g′(z)
        # One copy of the leaves for each sample makes their gradients come out per sample.
        self.leaf_logits = tf.repeat(leaf_logits[None], features.shape[0], axis=0)
        with tf.GradientTape(persistent=True) as self.tape:
            self.tape.watch([self.slots, self.leaf_logits])
            logits = layout.unpack_nodes(self.slots, *learner.shape)  # (batch, tree, node)
            self.leaf_probabilities = forest.route(logits)  # (batch, tree, leaf)
            self.outputs = forest.read_leaves(self.leaf_probabilities, self.leaf_logits)
            self.losses = losses(self.outputs, labels)
            self.quantities = quantities(self.outputs, self.losses)

    def gradients(self, upstream):
        """Gradient of Σ upstream·loss for every variable of the learner; upstream is (batch,)."""
        slots, leaf_logits = self.tape.gradient(
            self.losses, [self.slots, self.leaf_logits], output_gradients=upstream)
        gradients = [
            layout.sum_of_outer(self.features, slots),
            tf.reduce_sum(slots, axis=0),
            tf.reduce_sum(leaf_logits, axis=0)]
        if self.encoder_weights:
            upstream = tf.matmul(slots, self.kernel, transpose_b=True)  # (batch, feature)
            gradients += self.encoder_tape.gradient(
                self.features, self.encoder_weights, upstream, unconnected_gradients="zero")
        return gradients

    def jacobians(self):
        """Gradient of every quantity of every sample: for each weight (batch, quantity, *weight)."""
        per_quantity = [
            self.tape.gradient(quantity, [self.slots, self.leaf_logits])
            for quantity in self.quantities]
        slots, leaf_logits = (tf.stack(parts, axis=1) for parts in zip(*per_quantity, strict=True))
        return [self.features[:, None, :, None] * slots[:, :, None, :], slots, leaf_logits]


class KerasLearner:
    """Any Keras model that gives probabilities: (batch, feature) → (batch, label)."""

    def __init__(self, predictor):
        self.predictor = predictor
        self.variables = predictor.trainable_variables
        self.state = predictor.non_trainable_variables
        self.names = tuple(variable.path.replace("/", "_") for variable in self.variables)

    def natural(self):
        return [variable.value for variable in self.variables]

    def pack(self, arrays):
        return list(arrays)

    unpack = pack

    def load(self):
        """The optimizer moves the predictor's own variables: nothing to fill."""

    store = load

    def trace(self, weights, state, features, labels, quantities):
        return KerasTrace(self, weights, state, features, labels, quantities)


class KerasTrace:
    """One step's samples in any Keras model; the methods are those of `ForestTrace`."""

    def __init__(self, learner, weights, state, features, labels, quantities):
        self.weights = weights
        with tf.GradientTape(persistent=True) as self.tape:
            self.tape.watch(weights)
            self.outputs, self.state = learner.predictor.stateless_call(
                weights, state, features, training=True)
            self.losses = losses(self.outputs, labels)
            self.quantities = quantities(self.outputs, self.losses)
            self.stacked = tf.stack(self.quantities, axis=1)  # (batch, quantity)

    def gradients(self, upstream):
        return self.tape.gradient(
            self.losses, self.weights, output_gradients=upstream, unconnected_gradients="zero")

    def jacobians(self):
        if self.stacked.shape[0] > 1:
            return self.tape.jacobian(self.stacked, self.weights, unconnected_gradients="zero")
        per_quantity = [
            self.tape.gradient(quantity, self.weights, unconnected_gradients="zero")
            for quantity in self.quantities]
        return [tf.stack(parts)[None] for parts in zip(*per_quantity, strict=True)]

