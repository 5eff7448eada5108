"""The soft-routed oblique forest: Definition 2, Section 3.4 and Appendix D.3 of the paper.

A node sends a sample left with probability n = g(w·x + b), a leaf is reached with the product of
the probabilities on its path, and the forest's output is the mean over trees of the leaves'
label distributions, weighted by those products. Nothing in this module knows of fairness.
"""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.arguments import require_choice, require_room, require_seed, require_whole
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.forest.routing import leaf_probabilities_by_levels, leaf_probabilities_by_mask

Activation = Callable[[tf.Tensor], tf.Tensor]

TINY = 1e-30  # log(TINY) is finite in float32, and exp(log(TINY)) is 0 for every purpose here


@keras.saving.register_keras_serializable("aranyani_tf")
def smootherstep(z: tf.Tensor) -> tf.Tensor:
    """A polynomial sigmoid that is exactly 0 below −1/2 and exactly 1 above 1/2.

    >>> [float(v) for v in smootherstep(tf.constant([-1.0, 0.0, 0.25, 1.0]))]
    [0.0, 0.5, 0.896484375, 1.0]
    """
    t = tf.clip_by_value(z + 0.5, 0.0, 1.0)
    return t * t * t * (t * (6.0 * t - 15.0) + 10.0)


def get_activation(activation: Any) -> Activation:
    """A Keras activation by name or callable; "smootherstep" is ours. It must give probabilities."""
    if isinstance(activation, str) and activation == "smootherstep":
        return smootherstep
    try:
        found = keras.activations.get(activation)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"activation {activation!r} is not known: {error}") from error
    if found not in (keras.activations.sigmoid, smootherstep):
        require_gate(found)
    return found


def require_gate(activation: Activation) -> None:
    """Raises unless g gives a probability for every number, and not the same for all of them."""
    try:
        values = np.asarray(activation(tf.linspace(-30.0, 30.0, 61)))
    except Exception as error:  # whatever a function of the user's may raise
        raise ArgumentError(f"activation cannot be used: {error}") from error
    if values.shape != (61,) or not ((values >= 0) & (values <= 1)).all() or not np.ptp(values) > 0:
        raise ArgumentError("activation must give a probability for every number, as 'sigmoid' and 'smootherstep' do; "
                            f"{getattr(activation, '__name__', activation)!r} goes from {values.min():g} to "
                            f"{values.max():g}")


@keras.saving.register_keras_serializable("aranyani_tf")
class ObliqueForest(keras.layers.Layer):
    """A forest of soft-routed oblique trees: f(x) = 1/T Σ_t Σ_l p_tl(x)·softmax(Θ_tl).

    Args:
        num_trees: number of trees T.
        height: depth of the leaves, 1 to 10; a tree has 2^height − 1 nodes and 2^height leaves.
        num_labels: number of labels; 1 is regression, where leaves hold plain values.
        activation: g, any Keras activation with values in [0, 1], or "smootherstep".
        routing: "levels" (fast) or "mask" (the paper's matrix form); the same numbers.
        seed: of the initial weights W, B ~ N(0, 1) and Θ ~ U(0, 1).

    Input shape: (batch, feature). Output shape: (batch, label).

    >>> layer = ObliqueForest(num_trees=2, height=3, num_labels=2, seed=0)
    >>> layer(np.zeros((5, 4), "float32")).shape
    TensorShape([5, 2])
    >>> [tuple(weight.shape) for weight in layer.weights]
    [(2, 4, 7), (2, 7), (2, 8, 2)]
    """

    def __init__(self, num_trees: int = 3, height: int = 4, num_labels: int = 2, activation: Any = "sigmoid",
                 routing: str = "levels", seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        require_whole("num_trees", num_trees, 1)
        require_whole("height", height, 1, 10)
        require_whole("num_labels", num_labels, 1)
        require_choice("routing", routing, ("levels", "mask"))
        require_seed(seed)
        self.num_trees, self.height, self.num_labels = num_trees, height, num_labels
        self.activation, self.routing, self.seed = get_activation(activation), routing, seed
        self.num_nodes, self.num_leaves = 2**height - 1, 2**height

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        num_features = input_shape[-1]
        require_room("the forest", self.num_trees * self.num_leaves * ((num_features or 1) + self.num_labels))
        # Three independent seeds, so that one seed's bias is not another one's kernel.
        kernel_seed, bias_seed, leaf_seed = map(
            int, np.random.SeedSequence(self.seed).generate_state(3) >> 1)
        normal, uniform = keras.initializers.RandomNormal, keras.initializers.RandomUniform
        self.node_kernel = self.add_weight(
            name="node_kernel", shape=(self.num_trees, num_features, self.num_nodes),
            initializer=normal(0.0, 1.0, seed=kernel_seed))
        self.node_bias = self.add_weight(
            name="node_bias", shape=(self.num_trees, self.num_nodes),
            initializer=normal(0.0, 1.0, seed=bias_seed))
        self.leaf_logits = self.add_weight(
            name="leaf_logits", shape=(self.num_trees, self.num_leaves, self.num_labels),
            initializer=uniform(0.0, 1.0, seed=leaf_seed))
        self.built = True

    def call(self, inputs: Any) -> tf.Tensor:
        return self.read_leaves(self.leaf_probabilities(inputs), self.leaf_logits)

    def node_logits(self, inputs: Any) -> tf.Tensor:
        """w·x + b of every node: (batch, tree, node)."""
        inputs = tf.cast(inputs, self.compute_dtype)
        if inputs.shape.rank != 2 or inputs.shape[-1] != self.node_kernel.shape[1]:  # XLA would answer anyway
            raise RowError(f"the forest takes rows of {self.node_kernel.shape[1]} features, shape (rows, "
                           f"{self.node_kernel.shape[1]}); got shape {tuple(inputs.shape)}")
        return tf.einsum("bf,tfn->btn", inputs, self.node_kernel) + self.node_bias

    def node_decisions(self, inputs: Any) -> tf.Tensor:
        """n, the probability of going left: (batch, tree, node)."""
        return self.activation(self.node_logits(inputs))

    def leaf_probabilities(self, inputs: Any) -> tf.Tensor:
        """p_l, the probability of reaching each leaf: (batch, tree, leaf)."""
        logits = self.node_logits(inputs)
        return self.route(logits, self.activation(logits))

    def route(self, logits: tf.Tensor, decisions: tf.Tensor) -> tf.Tensor:
        """From the nodes' z and n, (batch, tree, node), to leaf probabilities (batch, tree, leaf)."""
        if self.routing == "levels":
            return leaf_probabilities_by_levels(decisions)
        if self.activation is keras.activations.sigmoid:
            return leaf_probabilities_by_mask(
                tf.math.log_sigmoid(logits), tf.math.log_sigmoid(-logits))
        return leaf_probabilities_by_mask(
            tf.math.log(tf.maximum(decisions, TINY)), tf.math.log(tf.maximum(1 - decisions, TINY)))

    def read_leaves(self, leaf_probabilities: tf.Tensor, leaf_logits: tf.Tensor) -> tf.Tensor:
        """Mean over trees of Σ_l p_l·θ_l: (batch, tree, leaf), (…, tree, leaf, label) → (batch, label)."""
        values = leaf_logits if self.num_labels == 1 else tf.nn.softmax(leaf_logits)
        return tf.reduce_mean(tf.reduce_sum(leaf_probabilities[..., None] * values, axis=-2), axis=-2)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, int]:
        return (input_shape[0], self.num_labels)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {
            "num_trees": self.num_trees, "height": self.height, "num_labels": self.num_labels,
            "activation": keras.activations.serialize(self.activation),
            "routing": self.routing, "seed": self.seed}
