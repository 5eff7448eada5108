"""The unit of a regression target: learned along the stream, so that any unit will do.

A forest begins with leaves between 0 and 1, and moves them by a few thousandths a step. So a target in
thousands would never be reached. Each label is therefore scaled by the mean and deviation of the labels up
to and with its own, as `preprocessing="online"` scales features; what the model says is given back in the
target's unit, by the mean and deviation of the labels before. Nothing looks ahead.
"""

from typing import Any

import keras
import tensorflow as tf

Unit = tuple[tf.Tensor, tf.Tensor]  # center, spread


class TargetScale(keras.layers.Layer):
    """Count, mean and sum of squared deviations of the labels so far, in float64."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trainable=False, **kwargs)

    def build(self, input_shape: Any = None) -> None:
        self.moments = self.add_weight(name="moments", shape=(3,), dtype="float64", initializer="zeros",
                                       trainable=False)
        self.built = True

    def call(self, outputs: tf.Tensor) -> tf.Tensor:
        """Outputs of the model in the target's unit."""
        return in_unit(outputs, *unit_of(self.moments.value))

    def scaled(self, labels: tf.Tensor) -> tuple[tf.Tensor, Unit]:
        """Labels of a chunk as the model learns them, and (center, spread) before each; absorbs them."""
        learned, before, after = scaled_along(labels, self.moments.value)
        self.moments.assign(after)
        return learned, before


def scaled_along(labels: tf.Tensor, moments: tf.Tensor) -> tuple[tf.Tensor, Unit, tf.Tensor]:
    """Labels (row, …) in a row's own scale, (center, spread) before each row, and the moments after all.

    With m the mean and M the squares of the n labels before, and s_i = Σ_{j≤i} (y_j − m):
    mean_i = m + s_i / n_i and M_i = M + Σ_{j≤i} (y_j − m)² − s_i² / n_i. A missing label, NaN, adds nothing.

    Args:
        moments: (3, …), count, mean and squares of the labels before.
    """
    count, mean, squares = moments[0], moments[1], moments[2]
    known, zero = tf.math.is_finite(labels), tf.zeros((), tf.float64)
    ranks = tf.cumsum(tf.cast(known, tf.float64))
    # Before anything is known m may be any number; near the labels, the squares do not cancel out.
    first = tf.reduce_sum(tf.where(known & (ranks == 1), tf.cast(labels, tf.float64), zero), axis=0)
    mean = tf.where(count > 0, mean, first)
    values = tf.where(known, tf.cast(labels, tf.float64) - mean, zero)
    counts = count + ranks
    sums = tf.cumsum(values)
    filled = tf.maximum(counts, 1.0)
    along = tf.stack([counts, mean + sums / filled, squares + tf.cumsum(values**2) - sums**2 / filled])  # (3, row, …)
    center, spread = unit_of(along)
    learned = (tf.cast(labels, tf.float64) - center) / spread
    along = tf.where(counts > 0, along, zero)
    before = unit_of(tf.concat([moments[:, None], along[:, :-1]], axis=1))
    return tf.cast(learned, labels.dtype), before, along[:, -1]


def unit_of(moments: tf.Tensor) -> Unit:
    """(center, spread) of moments (3, …); 0 and 1 where nothing is known yet."""
    count, mean, squares = moments[0], moments[1], tf.maximum(moments[2], 0.0)
    spread = tf.sqrt(squares / tf.maximum(count, 1.0))
    return mean, tf.where(spread > 0, spread, tf.ones_like(spread))


def in_unit(outputs: tf.Tensor, center: tf.Tensor, spread: tf.Tensor) -> tf.Tensor:
    """Outputs scaled back; center and spread have its first axes, or none."""
    center, spread = (tf.cast(part, outputs.dtype)[(..., *(None,) * (outputs.shape.rank - part.shape.rank))]
                      if part.shape.rank else tf.cast(part, outputs.dtype) for part in (center, spread))
    return outputs * spread + center
