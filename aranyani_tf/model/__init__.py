"""Aranyani as a Keras model: what `fit` takes, what becomes of a chunk, what is saved."""

from aranyani_tf.model.aranyani import Aranyani

__all__ = ["Aranyani"]
