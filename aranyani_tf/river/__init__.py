"""Aranyani for River: `from aranyani_tf.river import AranyaniClassifier`."""

try:
    import river  # noqa: F401
except ImportError as error:
    raise ImportError("aranyani_tf.river needs River: pip install 'aranyani_tf[baselines]'") from error

from aranyani_tf.river.classifier import AranyaniClassifier

__all__ = ["AranyaniClassifier"]
