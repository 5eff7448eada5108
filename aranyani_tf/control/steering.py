"""λ on its way along a stream: the decisions that are counted, and the rule by which λ moves with their gap.

Every `every` rows the gap v of the decisions is looked at, and λ moves by the violation c = v − margin·target:

    ξ ← ν·ξ + (1 − ν)·c,    λ ← [λ + κᵢ·c + κₚ·(ξ − ξ_before)], kept within 0 and `most`

This is the νPI rule for multipliers (Sohrabi et al., ICML 2024); without κₚ it is dual ascent. v is the largest of
some gaps: that of all rows so far, and that of the recent past, in which a row's weight fades with the rows behind it,
of whatever group; where there is a `Correction`, that of later rows too. So a gap that was built up early is worked
off, and one that changes its sign does not hide.
"""

import copy

import numpy as np
import pandas as pd

from aranyani_tf.control.correction import FEW, Correction, Shares
from aranyani_tf.control.decisions import count, gap_of
from aranyani_tf.control.parity_target import ParityTarget
from aranyani_tf.engine.row_engine import plain
from aranyani_tf.engine.walk import NO_OFFSETS
from aranyani_tf.errors import ArgumentError

KEPT = 1024  # entries of the record; when it is full every other one goes, and the next are taken half as often


class Steering:
    """λ on its way along one model's stream, by a target with nothing left open.

    Counts are whole numbers until λ moves, so that it makes no difference how rows are cut.

    Args:
        goal: what is to be kept.
        metric: the gap's name.
        num_labels, num_groups, positive_label: those of the model.
        correction: of the gaps that λ is multiplied with, if there is one.
    """

    def __init__(self, goal: ParityTarget, metric: str, *, num_labels: int, num_groups: int,
                 positive_label: int, correction: Correction | None = None) -> None:
        if num_labels < 2:
            raise ArgumentError("a parity target needs decisions; num_labels=1 is regression. Pass a number as "
                                "fairness_weight")
        self.goal, self.metric, self.positive_label, self.correction = goal, metric, positive_label, correction
        self.weight, self.average, self.num_rows, self.num_fresh = float(goal.start), 0.0, 0, 0
        # Of all rows, with fading, of later ones, since λ last moved, and before there was a target.
        self.total, self.recent, self.later, self.fresh, self.before = np.zeros(
            (5, num_labels + 1, num_groups + 1, num_labels))
        self.record, self.spacing, self.num_moves = np.zeros((0, 4)), 1, 0

    @property
    def room(self) -> int:
        """Rows until λ moves."""
        return self.goal.every - self.num_fresh

    @property
    def offsets(self) -> np.ndarray:
        """What is added to the gaps that λ is multiplied with, (contrast, value); empty if nothing is."""
        return NO_OFFSETS if self.correction is None else self.correction.spread

    @property
    def counts(self) -> np.ndarray:
        """The table of all rows that the model has learned."""
        return self.before + self.total + self.fresh

    def take(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray, shares: Shares | None = None) -> None:
        """Rows that were answered and learned; more than there is `room` for are looked at together.

        `shares` is asked if λ moves.
        """
        self.counted(count(plain(labels, "float64"), plain(groups, "int32"), plain(outputs, outputs.dtype), self.fresh),
                     shares)

    def take_table(self, table: np.ndarray, shares: Shares | None = None) -> None:
        """The same, of rows that somebody else has counted."""
        self.fresh += table
        self.counted(int(table.sum()), shares)

    def counted(self, num_rows: int, shares: Shares | None) -> None:
        self.num_fresh += num_rows
        if self.num_fresh >= self.goal.every:
            self.move(shares)

    def move(self, shares: Shares | None = None) -> None:
        """λ, and the offsets, by the gaps as they stand."""
        goal, few = self.goal, 0 if self.correction is None else FEW
        self.total += self.fresh
        self.recent = self.recent * (1 - 1 / goal.memory) ** self.num_fresh + self.fresh
        self.later = self.later * (self.num_rows / (self.num_rows + self.num_fresh)) ** 2 + self.fresh
        self.num_rows += self.num_fresh
        self.fresh[:], self.num_fresh = 0, 0
        overall = gap_of(self.total, self.metric, self.positive_label, few=few)
        of_late = gap_of(self.recent, self.metric, self.positive_label, goal.chance, few)
        if self.num_rows >= goal.warm_up:
            largest, aim = max(overall, of_late), goal.margin * goal.target
            if self.correction is not None:
                largest = max(largest, gap_of(self.later, self.metric, self.positive_label, few=few))
                self.correction.move((self.total, self.recent, self.later), aim, shares)
            violation, before = largest - aim, self.average
            self.average = goal.smoothing * before + (1 - goal.smoothing) * violation
            moved = self.weight + goal.gain * violation + goal.damping * (self.average - before)
            self.weight = min(max(moved, 0.0), goal.most)
        self.take_note(overall, of_late)

    def take_note(self, overall: float, of_late: float) -> None:
        if self.num_moves % self.spacing == 0:
            self.record = np.vstack([self.record, (self.num_rows, self.weight, overall, of_late)])
        self.num_moves += 1
        if len(self.record) > KEPT:
            self.record, self.spacing = self.record[::2], 2 * self.spacing

    def frame(self) -> pd.DataFrame:
        """λ and the gaps along the stream."""
        table = pd.DataFrame(self.record, columns=["row", "fairness_weight", "gap", "recent_gap"])
        return table.astype({"row": int})

    def copy(self) -> "Steering":
        return copy.deepcopy(self)

    def store(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a file."""
        found = {"numbers": np.array([self.weight, self.average, self.num_rows, self.num_fresh, self.spacing,
                                      self.num_moves], "float64"),
                 "tables": np.stack([self.total, self.recent, self.fresh, self.before]), "record": self.record}
        if self.correction is not None:
            found |= {"later": self.later, "offsets": np.stack([self.correction.summed, self.correction.offsets]),
                      "spread": self.correction.spread}
        return found

    def load(self, values: dict[str, np.ndarray]) -> None:
        """What `store` gave."""
        self.weight, self.average = map(float, values["numbers"][:2])
        self.num_rows, self.num_fresh, self.spacing, self.num_moves = map(int, values["numbers"][2:])
        self.total, self.recent, self.fresh, self.before = np.array(values["tables"], "float64")
        self.record = np.array(values["record"], "float64").reshape(-1, 4)
        if self.correction is not None:
            self.later = np.array(values["later"], "float64")
            self.correction.summed, self.correction.offsets = np.array(values["offsets"], "float64")
            self.correction.spread = np.array(values["spread"], "float64")
