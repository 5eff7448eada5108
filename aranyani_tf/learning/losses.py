"""The task's loss: cross-entropy, or squared error for regression."""

import tensorflow as tf

from aranyani_tf.labels import is_labelled

SMALLEST_PROBABILITY = 1e-7  # Keras's own: keeps the logarithm finite


def losses(outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Cross-entropy, or squared error for one output: (batch, label), (batch,) → (batch,).

    A sample without a label has loss 0.
    """
    if outputs.shape[-1] == 1:
        error = outputs[:, 0] - tf.cast(labels, outputs.dtype)
        return tf.where(is_labelled(labels), error, tf.zeros_like(error)) ** 2
    chosen = tf.reduce_sum(outputs * tf.one_hot(labels, outputs.shape[-1], dtype=outputs.dtype), -1)
    loss = -tf.math.log(tf.maximum(chosen, SMALLEST_PROBABILITY))
    return tf.where(is_labelled(labels), loss, tf.zeros_like(loss))
