"""What is asked of a step besides its task: gaps between cells that should be zero (Equations 3 to 5).

A notion says which gaps there are, a penalty H what they cost, and λ Σ H(F) is the fairness term. How the
past counts belongs to it too: what is forgotten, and which gaps may be chance.
"""

from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

from aranyani_tf.fairness.notions import Notion
from aranyani_tf.fairness.statistics import Memory
from aranyani_tf.fairness.sums import combine
from aranyani_tf.interfaces import Penalty
from aranyani_tf.labels import is_informative


class Offsets:
    """What is added to the gaps, (constraint, value), in a variable that a `ParityTarget` moves; nothing without one.

    An object of its own, since a target may come and go while the objective stays. The variable is made once and for
    all: compiled programs hold it.
    """

    def __init__(self) -> None:
        self.variable: tf.Variable | None = None
        self.are_added = False


@dataclass(frozen=True)
class Objective:
    """The settings of the fairness term.

    Args:
        online: False takes the means over each step's samples alone.
        decay, forget, chance: those of `Aranyani`.
        offsets: what is added to the gaps.
    """

    notion: Notion
    penalty: Penalty
    num_labels: int
    num_groups: int
    online: bool = True
    decay: float | None = None
    forget: str = "rows"  # or "time"
    chance: float = 0.0
    offsets: Offsets = field(default_factory=Offsets)

    @property
    def num_cells(self) -> int:
        return self.notion.num_cells(self.num_labels, self.num_groups)

    @property
    def contrasts(self) -> np.ndarray:
        """(constraint, cell)."""
        return self.notion.contrasts(self.num_labels, self.num_groups)

    def membership(self, labels: tf.Tensor, groups: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
        """(batch, cell), 1 where a sample counts for a cell."""
        return self.notion.membership(
            labels, groups, outputs, num_labels=self.num_labels, num_groups=self.num_groups, dtype=outputs.dtype)

    def counted(self, memory: Memory, membership: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor,
                row_weights: tf.Tensor | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        """Cell counts (cell,) with the step's samples, and each sample's share in its cell's new mean."""
        arrived = None if self.forget == "rows" else is_informative(labels, groups)
        return memory.counted(membership, self.decay, arrived, row_weights)

    def gaps(self, memory: Memory) -> tf.Tensor:
        """F, (constraint, value); 0 for a contrast with a cell that nobody was in yet.

        With `chance` = z the gap is z standard errors shorter: what may be chance counts as none.
        """
        contrasts = self.contrasts
        seen = tf.reduce_all((memory.cell_count > 0)[None, :] | (contrasts == 0), axis=1)
        gaps = combine(contrasts, memory.values)
        if self.chance:
            left = tf.abs(gaps) - self.chance * memory.deviations(contrasts)
            gaps = tf.sign(gaps) * tf.maximum(left, 0.0)
        if self.offsets.are_added:
            gaps += self.offsets.variable
        return tf.where(seen[:, None], gaps, tf.zeros_like(gaps))

    def coefficients(self, memory: Memory, fairness_weight: tf.Tensor) -> tf.Tensor:
        """λ Σ_c H′(F_c)·contrast[c, cell]: what each cell's mean gradient counts for, (cell, value)."""
        slopes = fairness_weight * self.penalty.gradient(self.gaps(memory))  # (constraint, value)
        return combine(self.contrasts.T, slopes)

    def penalty_of(self, memory: Memory, fairness_weight: tf.Tensor) -> tf.Tensor:
        """λ Σ H(F) of the running means as they stand."""
        return fairness_weight * tf.reduce_sum(self.penalty.value(self.gaps(memory)))
