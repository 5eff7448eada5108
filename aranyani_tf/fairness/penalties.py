"""Penalties on a fairness gap F: Equations 4 and 5, and the L2 ablation of Appendix E.

A penalty is an object with a `value` and a `gradient`, both elementwise. The gradient is what
training uses; the value is only reported.
"""

from typing import Any, Self

import keras
import tensorflow as tf

from aranyani_tf.arguments import require_number, require_object
from aranyani_tf.interfaces import Penalty


def huber(gap: tf.Tensor, delta: float, linear_slope: float) -> tf.Tensor:
    """F²/2 below the knee, then a line of the given slope, joined without a jump.

        H(F) = F²/2                        if |F| < δ
               δ²/2 + slope·(|F| − δ)      otherwise

    With slope = δ this is the Huber function δ(|F| − δ/2); the paper prints δ|F − δ/2|.
    """
    size = tf.abs(gap)
    return tf.where(size < delta, gap * gap / 2, delta * delta / 2 + linear_slope * (size - delta))


def huber_gradient(gap: tf.Tensor, delta: float, linear_slope: float) -> tf.Tensor:
    """F below the knee, slope·sgn(F) above: Equation 5, whose sgn(F − δ/2) is sgn(F) there."""
    return tf.where(tf.abs(gap) < delta, gap, linear_slope * tf.sign(gap))


@keras.saving.register_keras_serializable("aranyani_tf")
class Huber:
    """The paper's penalty.

    Args:
        delta: the knee δ.
        linear_slope: slope beyond the knee. None is δ, as in the paper. The authors' released
            code uses 1.0, so that a λ of the paper's rule is about 100 λ of theirs at δ = 0.01.

    >>> [round(float(Huber(delta=0.01).gradient(gap)), 6) for gap in (0.004, 0.5, -0.5)]
    [0.004, 0.01, -0.01]
    """

    def __init__(self, delta: float = 0.01, linear_slope: float | None = None) -> None:
        require_number("delta", delta, 0, above=True)
        if linear_slope is not None:
            require_number("linear_slope", linear_slope, 0, above=True)
        self.delta, self.linear_slope = delta, linear_slope

    @property
    def slope(self) -> float:
        return self.delta if self.linear_slope is None else self.linear_slope

    def value(self, gap: tf.Tensor) -> tf.Tensor:
        return huber(gap, self.delta, self.slope)

    def gradient(self, gap: tf.Tensor) -> tf.Tensor:
        return huber_gradient(gap, self.delta, self.slope)

    def get_config(self) -> dict[str, Any]:
        return {"delta": self.delta, "linear_slope": self.linear_slope}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**config)


@keras.saving.register_keras_serializable("aranyani_tf")
class L2:
    """F²/2, whose gradient is F·∇F: the regularizer ablation of Appendix E.

    >>> float(L2().gradient(0.5))
    0.5
    """

    def value(self, gap: tf.Tensor) -> tf.Tensor:
        return gap * gap / 2

    def gradient(self, gap: tf.Tensor) -> tf.Tensor:
        return gap

    def get_config(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls()


def get(penalty: str | Penalty | None) -> Penalty:
    """A penalty by name ("huber", "l2") or the object itself; None is the paper's."""
    if penalty is None or (isinstance(penalty, str) and penalty == "huber"):
        return Huber()
    if isinstance(penalty, str) and penalty == "l2":
        return L2()
    require_object("penalty", penalty, ("value", "gradient"), "'huber', 'l2'")
    assert not isinstance(penalty, str)  # which has no gradient
    return penalty
