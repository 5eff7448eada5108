"""Where fairness is imposed, and what is kept of the past for it.

A constraint names the quantities whose group means should agree, and keeps the mean of their
gradients. With F_c the gap of contrast c and H the penalty, the fairness gradient is

    λ Σ_c H′(F_c) Σ_cell contrast[c, cell]·E[∇quantity | cell]
        = Σ_cell coefficient[cell]·E[∇quantity | cell].

`RunningMeans` does that for the levels of this package: nodes, leaves, the output. A constraint of one's own
is a subclass of it, or anything else with the methods of `interfaces.Constraint`; `register_constraint` gives
it a name.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf

from aranyani_tf.arguments import require_new
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.objective import Objective
from aranyani_tf.fairness.statistics import Memory
from aranyani_tf.fairness.sums import share_out
from aranyani_tf.interfaces import Constraint, Learner, Trace


class RunningMeans:
    """Base class of the constraints that keep running means of quantities and of their gradients.

    A subclass has `shapes`, `pack`, `unpack`, `quantities`, and three methods more: `values` gives the
    quantities of a step's samples, `gradients` the sums of their gradients, weighted by what each sample's
    share in its cell's mean is, and `onto_weights` takes coefficients and mean gradients to a gradient for
    each weight.

    Args:
        learner: whose quantities they are.
        objective: which gaps count.
        num_features: of the forest or the predictor.
    """

    needs_forest = True  # False: a predictor will do

    def __init__(self, learner: Learner, objective: Objective, num_features: int) -> None:
        self.learner, self.objective, self.num_features = learner, objective, num_features
        if objective.notion.compares_loss and self.needs_forest:
            raise ArgumentError(f"{type(objective.notion).__name__} compares losses, which a node or a leaf does not "
                                "have: use constraint='output'")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the means, without the cell axis; the quantity comes first."""
        raise NotImplementedError

    def pack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """The means in the layout of the training loop: values (cell, value), then gradients (cell, …)."""
        return list(means)

    def unpack(self, means: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return list(means)

    def quantities(self, outputs: tf.Tensor, losses: tf.Tensor) -> list[tf.Tensor]:
        """What the trace has to differentiate for each sample; nothing, if that is known in closed form."""
        return []

    def values(self, trace: Trace) -> tf.Tensor:
        """(batch, value)."""
        raise NotImplementedError

    def gradients(self, trace: Trace, shares: tf.Tensor) -> list[tf.Tensor]:
        """Σ_batch shares·gradient, each (cell, …)."""
        raise NotImplementedError

    def onto_weights(self, coefficients: tf.Tensor, gradients: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """(cell, value) and the mean gradients → gradients of the learner's first variables."""
        raise NotImplementedError

    def remember(self, memory: Memory, trace: Trace, membership: tf.Tensor, labels: tf.Tensor,
                 groups: tf.Tensor, row_weights: tf.Tensor | None = None) -> Memory:
        """The running means with this step's samples; offline they are of these samples alone."""
        if not self.objective.online:
            blank = tf.nest.map_structure(tf.zeros_like, memory)
            memory = blank._replace(group_count=memory.group_count)
        count, shares = self.objective.counted(memory, membership, labels, groups, row_weights)
        values = self.values(trace)
        memory = memory.blended(
            shares, (share_out(shares, values), *self.gradients(trace, shares)),
            [share_out(shares, values**2)] if self.objective.chance else [])
        return memory._replace(cell_count=count)

    def fairness_gradients(self, memory: Memory, trace: Trace, membership: tf.Tensor,
                           fairness_weight: tf.Tensor) -> list[tf.Tensor]:
        """λ Σ_c H′(F_c)·∇F_c, for the first variables of the learner or for all."""
        return self.onto_weights(self.objective.coefficients(memory, fairness_weight), memory.gradients)

    def penalty(self, memory: Memory, fairness_weight: tf.Tensor) -> tf.Tensor:
        """λ Σ H(F), as it stands."""
        return self.objective.penalty_of(memory, fairness_weight)


ConstraintMaker = Callable[[Learner, Objective, int], Constraint]
MAKERS: dict[str, ConstraintMaker] = {}


def register_constraint(name: str, maker: ConstraintMaker) -> ConstraintMaker:
    """Makes `Aranyani(constraint=name)` possible.

    Args:
        maker: a class or function of (learner, objective, number of features), gives an
            `interfaces.Constraint`; with an attribute `needs_forest = False` if it can do with any predictor.
            A saved model keeps the name alone, so whoever loads it has to register it first.
    """
    require_new("constraint", name, MAKERS, maker)
    MAKERS[name] = maker
    return maker
