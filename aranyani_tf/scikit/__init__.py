"""Aranyani for scikit-learn: `from aranyani_tf.scikit import FairForestClassifier`."""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("aranyani_tf.scikit needs scikit-learn: pip install 'aranyani_tf[scikit]'") from error

from aranyani_tf.scikit.classifier import FairForestClassifier

__all__ = ["FairForestClassifier"]
