"""The level of the output: the prediction itself, of a forest or of any Keras model."""

from collections.abc import Sequence

import tensorflow as tf

from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.constraints import RunningMeans, register_constraint
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.sums import share_out
from aranyani_tf.interfaces import Learner, Trace


class OutputConstraint(RunningMeans):
    """E[f | a=0] = E[f | a=1].

    For two labels f is the probability of label 1, the other one being its complement; for more
    labels every probability is constrained; for regression the predicted value. A notion that
    compares losses averages the loss in f's place.
    """

    needs_forest = False

    def __init__(self, learner: Learner, objective: Objective, num_features: int) -> None:
        super().__init__(learner, objective, num_features)
        num_labels, self.compares_loss = objective.num_labels, objective.notion.compares_loss
        single = num_labels <= 2 or self.compares_loss
        self.columns = [num_labels - 1] if single else list(range(num_labels))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        shapes: dict[str, tuple[int, ...]] = {"output_mean": (len(self.columns),)}
        for name, weight in zip(self.learner.names, self.learner.natural(), strict=True):
            shapes[f"{name}_gradient_mean"] = (len(self.columns), *weight.shape)
        return shapes

    def pack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return [means[0], *self.learner.pack(means[1:])]

    def unpack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return [means[0], *self.learner.unpack(means[1:])]

    def quantities(self, outputs: tf.Tensor, losses: tf.Tensor) -> list[tf.Tensor]:
        return [losses] if self.compares_loss else [outputs[:, column] for column in self.columns]

    def values(self, trace: Trace) -> tf.Tensor:
        return tf.stack(trace.quantities, axis=1)  # (batch, quantity)

    def gradients(self, trace: Trace, shares: tf.Tensor) -> list[tf.Tensor]:
        return [share_out(shares, jacobian) for jacobian in trace.jacobians()]

    def onto_weights(self, coefficients: tf.Tensor, gradients: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        num_cells, num_values = coefficients.shape
        return [
            tf.reduce_sum(
                tf.reshape(coefficients, (num_cells, num_values) + (1,) * (mean.shape.rank - 2)) * mean,
                axis=(0, 1))
            for mean in gradients]


class SummedOutputConstraint(OutputConstraint):
    """A slip of the authors' released Leaf and MLP baselines, to see what it did.

    They differentiate the sum of the label probabilities. That is 1 for every x, so the fairness gradient
    is zero, and λ has no effect.
    """

    def __init__(self, learner: Learner, objective: Objective, num_features: int) -> None:
        super().__init__(learner, objective, num_features)
        if self.compares_loss:
            raise ArgumentError(f"{type(objective.notion).__name__} compares losses, which a summed output does not "
                                "have: use constraint='output'")

    def quantities(self, outputs: tf.Tensor, losses: tf.Tensor) -> list[tf.Tensor]:
        return [tf.reduce_sum(outputs, axis=-1) for _ in self.columns]

    def values(self, trace: Trace) -> tf.Tensor:
        return tf.gather(trace.outputs, self.columns, axis=1)  # the gap itself is right


register_constraint("output", OutputConstraint)
register_constraint("summed_output", SummedOutputConstraint)
