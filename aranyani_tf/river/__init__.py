"""Aranyani for River: `from aranyani_tf.river import AranyaniClassifier`. It needs River, the extra `baselines`."""

from aranyani_tf.river.classifier import AranyaniClassifier

__all__ = ["AranyaniClassifier"]
