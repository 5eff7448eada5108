"""A model that begins again, with another λ, learning rate or seed, without being compiled again."""

from typing import Any

import numpy as np

import aranyani_tf as ar


class Restart:
    """Keeps a compiled model, and gives it back as it was in the beginning; one run at a time.

    A model by TensorFlow's step takes some seconds to compile, and a run over thirty thousand rows less than one.

    Args:
        model: a new one.
        num_features: of its rows.
    """

    def __init__(self, model: ar.Aranyani, num_features: int):
        self.model, self.rows = model, np.zeros((1, num_features), model.compute_dtype)
        model.compile()
        model(self.rows)  # builds it
        self.optimizer = [variable.numpy() for variable in model.optimizer.variables]

    def again(self, start: ar.Aranyani, fairness_weight: Any, learning_rate: float | None = None) -> ar.Aranyani:
        """The model with the weights of `start`, a new one of the same settings, and another λ or `ParityTarget`.

        The learning rate is a variable of the optimizer, so that another one is not compiled again either.
        """
        start(self.rows)
        for variable, first in zip(self.model.weights, start.weights, strict=True):
            variable.assign(first)
        for variable, value in zip(self.model.optimizer.variables, self.optimizer, strict=True):
            variable.assign(value)
        if learning_rate is not None:
            self.model.optimizer.learning_rate.assign(learning_rate)
        self.model.fairness_weight = fairness_weight
        return self.model
