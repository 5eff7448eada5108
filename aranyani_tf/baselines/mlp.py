"""The MLP of the paper's MLP baseline (Appendix D.2): two layers, ReLU, 2^h − 1 hidden units as a tree has nodes."""

from typing import Any

import keras
import numpy as np


def perceptron(num_features: int, *, num_labels: int = 2, hidden: int = 15, seed: int | None = 0,
               dtype: Any = None) -> keras.Sequential:
    """A Keras model for `Aranyani(predictor=…)`: (batch, feature) → probabilities (batch, label)."""
    seeds = map(int, np.random.SeedSequence(seed).generate_state(2) >> 1)
    first, second = (keras.initializers.GlorotUniform(seed=layer_seed) for layer_seed in seeds)
    return keras.Sequential([
        keras.Input((num_features,)),
        keras.layers.Dense(hidden, activation="relu", kernel_initializer=first, dtype=dtype),
        keras.layers.Dense(num_labels, activation="softmax", kernel_initializer=second, dtype=dtype)])
