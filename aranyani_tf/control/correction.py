"""Why values that are alike on average need not give decisions that are, and what is done about it.

A constraint at the output level asks that F, the gap of mean probabilities, be 0. Decisions may differ all the same:
one group's probabilities may lie on either side of one half and the other's beneath it, or a group may arrive when
everybody is more often told yes. So F + o is brought to 0 in F's place, and the offset o, one for each contrast and
label, follows the gap D of decisions, with its sign:

    s ← s + κ·beyond(D, target),    o = s + γ·beyond(D of all rows or of the later ones, target/2)

beyond(D, t) is what of D lies outside ±t. The first part adds up, so that nothing lasting is left; its D is the largest
of three, of all rows, of recent ones and of later ones, in which the weight of row s after t rows is (s/t)². The second
answers at once; it knows no recent rows, and its D is a standard error shorter, since it must not answer to chance.

At nodes and leaves the gap of the output is Σ_j share_j·F_j (`engine.shares`), and the smallest offsets that move it by
o are o_j = o·share_j / Σ share². They are worked out whenever o moves, with the shares of that moment.
"""

from collections.abc import Callable

import numpy as np

from aranyani_tf.control.decisions import cells_of
from aranyani_tf.engine.compiler import compiled
from aranyani_tf.engine.walk import NO_OFFSETS
from aranyani_tf.fairness.notions import Notion

Shares = Callable[[], np.ndarray | None]  # those of this moment; None: the values are the outputs
SUMMED, AT_ONCE = 0.02, 10.0  # κ and γ
MOST = 0.5  # of an offset
SMALLEST = 1e-12  # of the shares' squares: leaves that say the same all over have none
FEW = 10  # rows that a cell's rate rests on, before it counts
RECENT, LATER = 1, 2  # among the tables
# Of later rows Σ w are counted, w = (s/t)², and a rate varies as Σ w²/(Σ w)² = 0.6/Σ w.
LATER_ERROR = np.sqrt(0.6)


class Correction:
    """The offsets of one model, and how they move.

    Args:
        notion: whose cells and contrasts they are of.
        metric: the gap's name, which says what the cells are of.
        num_labels, num_groups, positive_label: those of the model.
    """

    def __init__(self, notion: Notion, metric: str, *, num_labels: int, num_groups: int, positive_label: int) -> None:
        self.metric, self.positive_label = metric, positive_label
        self.contrasts = np.ascontiguousarray(notion.contrasts(num_labels, num_groups), "float64")
        self.with_everybody = notion.against_everybody(num_groups)
        # As `OutputConstraint.columns`.
        self.columns = np.array([num_labels - 1] if num_labels == 2 else range(num_labels))
        self.summed = np.zeros((len(self.contrasts), len(self.columns)))
        self.offsets = np.zeros_like(self.summed)  # of the output's gaps, (contrast, label)
        self.spread = NO_OFFSETS  # over the values, (contrast, value)

    def begin(self, num_values: int) -> None:
        """Offsets of 0, if there are none yet, of as many values as are compared."""
        if not self.spread.size:
            self.spread = np.zeros((len(self.contrasts), num_values))

    def move(self, tables: tuple[np.ndarray, np.ndarray, np.ndarray], target: float, shares: Shares | None) -> None:
        """Follows the decisions in the tables of all rows, of recent and of later ones."""
        # Two groups that are each half the target from everybody are a target from each other.
        target = target / 2 if self.with_everybody else target
        found = np.stack([cells_of(table, self.metric, self.positive_label, self.with_everybody) for table in tables])
        follow(found, self.contrasts, self.columns, target, self.summed, self.offsets)
        of_values = None if shares is None else shares()
        self.spread = self.offsets if of_values is None else spread_over(of_values, self.offsets)


def spread_over(shares: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The smallest offsets of values that are these of the output: shares (value, label) → (contrast, value).

    >>> spread_over(np.array([[0.5], [-0.25], [0.0]]), np.array([[0.05]])).round(3).tolist()
    [[0.08, -0.04, 0.0]]
    """
    one = shares.shape[1] == 1
    inverse = shares.T / max(np.square(shares).sum(), SMALLEST) if one else np.linalg.pinv(shares)
    return np.clip(offsets @ inverse, -MOST, MOST)


@compiled(_nrt=False, fastmath=False)
def signed_gap(found: np.ndarray, contrast: np.ndarray, label: int) -> tuple[float, float]:
    """D = Σ_cell contrast·rate of decisions (cell, decision), and its standard error if all cells were alike.

    D is 0 while a cell of it has too few rows.
    """
    gap, inverse, rows, said = 0.0, 0.0, 0.0, 0.0
    for cell in range(contrast.size):
        if contrast[cell] != 0:
            count = 0.0
            for each in range(found.shape[1]):
                count += found[cell, each]
            if count < FEW:
                return 0.0, 0.0
            gap += contrast[cell] * found[cell, label] / count
            inverse += contrast[cell] ** 2 / count
            rows += count
            said += found[cell, label]
    return gap, np.sqrt(said / rows * (1 - said / rows) * inverse)


@compiled(_nrt=False, fastmath=False)
def beyond(gap: float, limit: float) -> float:
    """What lies outside ±limit.

    >>> beyond(-0.5, 0.125), beyond(0.0, 0.125), beyond(0.25, 0.125)
    (-0.375, 0.0, 0.125)
    """
    return gap - min(max(gap, -limit), limit)


@compiled(_nrt=False, fastmath=False)
def follow(found: np.ndarray, contrasts: np.ndarray, columns: np.ndarray, target: float, summed: np.ndarray,
           offsets: np.ndarray) -> None:
    """Moves the sums and the offsets, (contrast, label), by decisions (total, recent and later, cell, decision)."""
    for c in range(contrasts.shape[0]):
        for j in range(columns.size):
            largest, sure = 0.0, 0.0
            for of in range(3):
                gap, error = signed_gap(found[of], contrasts[c], columns[j])
                if abs(gap) > abs(largest):
                    largest = gap
                if of != RECENT:
                    shorter = max(abs(gap) - (error * LATER_ERROR if of == LATER else error), 0.0)
                    if shorter > abs(sure):
                        sure = shorter if gap > 0 else -shorter
            summed[c, j] = min(max(summed[c, j] + SUMMED * beyond(largest, target), -MOST), MOST)
            offsets[c, j] = min(max(summed[c, j] + AT_ONCE * beyond(sure, target / 2), -MOST), MOST)
