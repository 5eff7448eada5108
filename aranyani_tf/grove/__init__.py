"""A grid of models in one pass: every λ with every seed."""

from aranyani_tf.grove.grove import Grove

__all__ = ["Grove"]
