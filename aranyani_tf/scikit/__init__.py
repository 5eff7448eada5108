"""Aranyani for scikit-learn: `from aranyani_tf.scikit import FairForestClassifier`. It needs the extra `scikit`."""

from aranyani_tf.scikit.classifier import FairForestClassifier

__all__ = ["FairForestClassifier"]
