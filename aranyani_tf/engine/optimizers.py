"""Adam and SGD as Keras has them, over a stretch of parameters."""

from typing import NamedTuple

import numpy as np

from aranyani_tf.engine.compiler import inner

ADAM, SGD = 0, 1


class Optimizer(NamedTuple):
    """An optimizer's settings."""

    kind: int  # ADAM or SGD
    learning_rate: float
    beta_1: float = 0.0  # SGD's momentum
    beta_2: float = 0.0
    epsilon: float = 0.0
    nesterov: bool = False


@inner
def rate_at(optimizer: Optimizer, step: int) -> float:
    """Adam's η·√(1 − β₂ᵗ)/(1 − β₁ᵗ), a function of the step alone, so that it is the same however rows are cut."""
    if optimizer.kind == SGD:
        return optimizer.learning_rate
    first, second = 0.0, 0.0
    beta_1, beta_2 = np.float64(np.float32(optimizer.beta_1)), np.float64(np.float32(optimizer.beta_2))  # as Keras does
    if beta_1 > 0 and step * np.log(beta_1) > -40:  # β^t counts for nothing beside 1 below e⁻⁴⁰
        first = beta_1**step
    if beta_2 > 0 and step * np.log(beta_2) > -40:
        second = beta_2**step
    return optimizer.learning_rate * np.sqrt(1 - second) / (1 - first)


@inner
def move(optimizer: Optimizer, rate: float, given: int, gradients: np.ndarray, row: int, weights: np.ndarray,
         first: np.ndarray, second: np.ndarray) -> None:
    """Moves weights[row] by gradients[given]. Adam: m += (1−β₁)(g−m),  v += (1−β₂)(g²−v),  w −= rate·m/(√v + ε).

    SGD: w −= η·g; with momentum m = β·m − η·g and w += m, or w += β·m − η·g if it is Nesterov's.
    """
    kind = weights.dtype.type
    eta = kind(rate)
    if optimizer.kind == ADAM:
        b1, b2, epsilon = kind(1 - optimizer.beta_1), kind(1 - optimizer.beta_2), kind(optimizer.epsilon)
        for j in range(gradients.shape[1]):
            g = gradients[given, j]
            m = first[row, j] + (g - first[row, j]) * b1
            v = second[row, j] + (g * g - second[row, j]) * b2
            first[row, j] = m
            second[row, j] = v
            weights[row, j] -= eta * m / (np.sqrt(v) + epsilon)
    elif optimizer.beta_1 == 0:
        for j in range(gradients.shape[1]):
            weights[row, j] -= eta * gradients[given, j]
    else:
        momentum = kind(np.float32(optimizer.beta_1))  # as Keras rounds it
        for j in range(gradients.shape[1]):
            step = eta * gradients[given, j]
            m = momentum * first[row, j] - step
            first[row, j] = m
            weights[row, j] += momentum * m - step if optimizer.nesterov else m
