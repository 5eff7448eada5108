"""What the parts of a learning step expect of each other.

A *learner* holds weights and traces samples through a predictor; a *constraint* says what is remembered of
the past, and what the fairness gradient is; a *penalty* is the cost of a gap. `learning.step.Step` is
Algorithm 1 over the three, and knows no more of them than what stands here. A *stream learner* is whatever
can be compared on a stream: `Aranyani`, every baseline, or your own.

These are protocols: a class has them by having the methods, and need not name them. Axes are called batch,
cell, value, label, feature, input and slot, see `forest.packing` for the last two; a *cell* is what a mean is
conditioned on.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

Memory = Any  # `fairness.statistics.Memory`, a named tuple of tensors
# (outputs, losses) → what is differentiated for each sample, each (batch,)
Quantities = Callable[[tf.Tensor, tf.Tensor], list[tf.Tensor]]


class StreamLearner(Protocol):
    """What `learn_stream` and the figures take."""

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Predicts each row, then learns from it, in order: (n, feature), (n,), (n,) → (n, label)."""
        ...


class Penalty(Protocol):
    """The cost H of a gap, elementwise."""

    def value(self, gap: tf.Tensor) -> tf.Tensor: ...

    def gradient(self, gap: tf.Tensor) -> tf.Tensor:
        """H′, which training uses; the value is only reported."""
        ...


class Trace(Protocol):
    """A step's samples on their way through a predictor, and how to differentiate what came of them."""

    outputs: tf.Tensor  # (batch, label), what is differentiated
    said: tf.Tensor  # (batch, label), what the model answers: the same, but for dropout and the like
    losses: tf.Tensor  # (batch,)
    quantities: Sequence[tf.Tensor]  # each (batch,), those that the constraint asked for
    state: Sequence[tf.Tensor]  # the non-trainable state after these samples

    def gradients(self, upstream: tf.Tensor) -> list[tf.Tensor]:
        """Of Σ upstream·loss, for every variable of the learner; upstream is (batch,)."""
        ...

    def jacobians(self) -> list[tf.Tensor]:
        """Of every quantity of every sample: for each weight (batch, quantity, *weight)."""
        ...


class Learner(Protocol):
    """A predictor as the optimizer sees it: its variables, and a trace as a pure function of their values.

    The training loop may keep weights in another layout than the predictor does: `load` fills it before a
    chunk, `store` puts it back, and `pack` and `unpack` translate arrays that are shaped as the weights.
    """

    names: Sequence[str]  # of the weights as the predictor has them
    variables: Sequence[Any]  # that the optimizer moves
    state: Sequence[Any]  # non-trainable variables
    num_packed: int  # how many of the variables are the predictor's own, and not an encoder's

    def gather(self) -> None:
        """Finds out anew which variables learn; called by `compile`."""
        ...

    def natural(self) -> list[tf.Tensor]:
        """The weights as the predictor has them."""
        ...

    def pack(self, arrays: Sequence[tf.Tensor]) -> list[tf.Tensor]: ...

    def unpack(self, arrays: Sequence[tf.Tensor]) -> list[tf.Tensor]: ...

    def load(self) -> None: ...

    def store(self) -> None: ...

    def prepare(self, features: tf.Tensor) -> tf.Tensor:
        """What a chunk's features become before its loop begins: (…, feature) → (…, input)."""
        ...

    def trace(self, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor], inputs: tf.Tensor,
              labels: tf.Tensor, quantities: Quantities) -> Trace:
        """`quantities` is the constraint's function of (outputs, losses)."""
        ...

    def predict(self, weights: Sequence[tf.Tensor], state: Sequence[tf.Tensor],
                inputs: tf.Tensor) -> tf.Tensor:
        """What the model says when it is not learning: (batch, label)."""
        ...

    def norms(self, packed: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """The norm of each weight's gradient, one for each of `names`."""
        ...


class Constraint(Protocol):
    """What is remembered of the past, and the fairness gradient that comes of it.

    The memory is a `Memory`: counts of the cells and groups, and `kept`, arrays whose first axis is the cell.
    What they are is the constraint's own affair: running means, stored samples, a dual variable.
    """

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of what is kept, without the cell axis; they become the model's `statistics`."""
        ...

    def pack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """What is kept, from these shapes to those of the training loop; `unpack` is the way back."""
        ...

    def unpack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]: ...

    def quantities(self, outputs: tf.Tensor, losses: tf.Tensor) -> list[tf.Tensor]:
        """What the trace has to differentiate for each sample, each (batch,)."""
        ...

    def remember(self, memory: Memory, trace: Trace, membership: tf.Tensor, labels: tf.Tensor,
                 groups: tf.Tensor) -> Memory:
        """The memory with a step's samples; membership is (batch, cell).

        A constraint that can do with weights of rows takes one argument more, `row_weights=None`, (batch,): it is
        given where rows have weights. Without it a model refuses them.
        """
        ...

    def fairness_gradients(self, memory: Memory, trace: Trace, membership: tf.Tensor,
                           fairness_weight: tf.Tensor) -> list[tf.Tensor]:
        """For the learner's first variables, or for all; the memory is that after the step's samples."""
        ...

    def penalty(self, memory: Memory, fairness_weight: tf.Tensor) -> tf.Tensor:
        """The fairness term as it stands, for the report."""
        ...
