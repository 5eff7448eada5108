"""λ that follows the gap: one says how large the gap of the decisions may be, and λ moves along the stream.

Every `every` rows the gap v of the decisions is looked at, and λ moves by the violation c = v − margin·target:

    ξ ← ν·ξ + (1 − ν)·c,    λ ← [λ + κᵢ·c + κₚ·(ξ − ξ_before)], kept within 0 and `most`

This is the νPI rule for multipliers (Sohrabi et al., ICML 2024); without κₚ it is dual ascent. v is the larger of two
gaps: that of all rows so far, and that of the recent past, in which a row's weight fades with the rows behind it, of
whatever group. So a gap that was built up early is worked off, and one that changes its sign does not hide.
"""

import copy
from typing import Any, Self

import keras
import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_choice, require_number, require_whole
from aranyani_tf.control.decisions import GAPS, count, gap_of
from aranyani_tf.engine.row_engine import plain
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.penalties import Huber

KEPT = 1024  # entries of the record; when it is full every other one goes, and the next are taken half as often


# At the output level a small λ moves the decisions at once; the nodes' gaps are further from them, and need more.
RULES: dict[str, dict[str, Any]] = {"output": {"memory": 500, "gain": 0.5, "damping": 0.0, "most": 5.0},
                                    "node": {"memory": 1000, "gain": 2.0, "damping": 10.0, "most": 10.0}}


def require_all_groups(update_when: str) -> None:
    """Raises where the groups of some decisions are never told: their rates cannot be known, nor may be used."""
    if update_when != "always":
        raise ArgumentError(f"update_when={update_when!r} hides the groups of all other decisions, so that no gap can "
                            "be known; a ParityTarget goes with 'always'. Pass a number as fairness_weight")


def with_defaults(constraint: str | None, penalty: Any, decay: float | None, forget: str | None,
                  online: bool) -> tuple[Any, ...]:
    """A model's constraint, penalty, decay and forget: those that keep a target best, where none was given."""
    decay = 0.003 if decay is None and online else decay
    return (constraint or "output", Huber(linear_slope=1.0) if penalty is None else penalty, decay,
            forget or ("rows" if decay is None else "time"))


@keras.saving.register_keras_serializable("aranyani_tf")
class ParityTarget:
    """A gap that is not to be exceeded, in λ's place: `Aranyani(fairness_weight=ParityTarget(0.05))`.

    The group is needed to learn, as ever, and never to predict. A model that is given a target and no `constraint`,
    `penalty`, `decay` and `forget` has those that keep it best: the output level, a slope of 1, a decay of 0.003 in
    time. The target is a goal that λ is moved by, not a promise: docs/live.md says how often it was kept, and where it
    was not.

    Args:
        target: the largest difference between two groups' rates of decisions.
        metric: of which gap: "demographic_parity", "equal_opportunity" or "equalized_odds"; None is that of the model's
            notion.
        every: rows between two moves of λ.
        memory: rows over which the recent gap is taken.
        margin: the share of the target that is aimed at, so that swings stay below it.
        gain, damping, smoothing: κᵢ, κₚ and ν.
        most: the largest λ. It, the memory, the gain and the damping are those of `RULES` where they are None: what
            was found to do for the constraint's level, on streams of docs/live.md.
        start: λ until it first moves.
        warm_up: rows before that.
        chance: how many standard errors the recent gap is shorter by, so that a small group's chance moves nothing.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=4000, seed=0)
    >>> model = ar.Aranyani(fairness_weight=ar.ParityTarget(0.05), seed=0)
    >>> history = model.fit(stream, verbose=0)
    >>> bool(model.so_far()["demographic_parity"] < 0.06)
    True
    >>> list(model.fairness_weight_record.columns)
    ['row', 'fairness_weight', 'gap', 'recent_gap']
    """

    def __init__(self, target: float, *, metric: str | None = None, every: int = 50, memory: int | None = None,
                 margin: float = 0.9, gain: float | None = None, damping: float | None = None,
                 smoothing: float = 0.8, most: float | None = None, start: float = 0.0, warm_up: int = 200,
                 chance: float = 0.0) -> None:
        require_number("target", target, 0, 1, below=True)
        if metric is not None:
            require_choice("metric", metric, GAPS)
        require_whole("every", every, 1)
        require_whole("warm_up", warm_up, 0)
        require_number("margin", margin, 0, 1, above=True)
        require_number("smoothing", smoothing, 0, 1, below=True)
        require_number("start", start, 0, most)
        require_number("chance", chance, 0)
        for name, value, low in (("memory", memory, 1), ("most", most, 0), ("gain", gain, 0), ("damping", damping, 0)):
            if value is not None:
                require_number(name, value, low)
        self.target, self.metric, self.every, self.margin, self.smoothing = target, metric, every, margin, smoothing
        self.memory: Any = memory
        self.gain: Any = gain
        self.damping: Any = damping
        self.most: Any = most
        self.start, self.warm_up, self.chance = start, warm_up, chance

    def for_level(self, level: str) -> "ParityTarget":
        """The same with nothing left open, for a model whose constraint is of this level."""
        rule = RULES.get(level, RULES["node"])
        return ParityTarget(**(vars(self) | {name: value for name, value in rule.items() if vars(self)[name] is None}))

    def get_config(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**config)

    def __repr__(self) -> str:
        return f"ParityTarget({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Steering:
    """λ on its way along one model's stream, by a target with nothing left open.

    Counts are whole numbers until λ moves, so that it makes no difference how rows are cut.

    Args:
        goal: what is to be kept.
        metric: the gap's name.
        num_labels, num_groups, positive_label: those of the model.
    """

    def __init__(self, goal: ParityTarget, metric: str, *, num_labels: int, num_groups: int,
                 positive_label: int) -> None:
        if num_labels < 2:
            raise ArgumentError("a parity target needs decisions; num_labels=1 is regression. Pass a number as "
                                "fairness_weight")
        self.goal, self.metric, self.positive_label = goal, metric, positive_label
        self.weight, self.average, self.num_rows, self.num_fresh = float(goal.start), 0.0, 0, 0
        # Of all rows, with fading, since λ last moved, and before there was a target.
        self.total, self.recent, self.fresh, self.before = np.zeros((4, num_labels + 1, num_groups + 1, num_labels))
        self.record, self.spacing, self.num_moves = np.zeros((0, 4)), 1, 0

    @property
    def room(self) -> int:
        """Rows until λ moves."""
        return self.goal.every - self.num_fresh

    @property
    def counts(self) -> np.ndarray:
        """The table of all rows that the model has learned."""
        return self.before + self.total + self.fresh

    def take(self, labels: np.ndarray, groups: np.ndarray, outputs: np.ndarray) -> None:
        """Rows that were answered and learned; more than there is `room` for are looked at together."""
        self.counted(count(plain(labels, "float64"), plain(groups, "int32"), plain(outputs, outputs.dtype), self.fresh))

    def take_table(self, table: np.ndarray) -> None:
        """The same, of rows that somebody else has counted."""
        self.fresh += table
        self.counted(int(table.sum()))

    def counted(self, num_rows: int) -> None:
        self.num_fresh += num_rows
        if self.num_fresh >= self.goal.every:
            self.move()

    def move(self) -> None:
        """λ by the gap as it stands."""
        goal = self.goal
        self.total += self.fresh
        self.recent = self.recent * (1 - 1 / goal.memory) ** self.num_fresh + self.fresh
        self.num_rows += self.num_fresh
        self.fresh[:], self.num_fresh = 0, 0
        overall = gap_of(self.total, self.metric, self.positive_label)
        of_late = gap_of(self.recent, self.metric, self.positive_label, goal.chance)
        if self.num_rows >= goal.warm_up:
            violation, before = max(overall, of_late) - goal.margin * goal.target, self.average
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
        return {"numbers": np.array([self.weight, self.average, self.num_rows, self.num_fresh, self.spacing,
                                     self.num_moves], "float64"),
                "tables": np.stack([self.total, self.recent, self.fresh, self.before]), "record": self.record}

    def load(self, values: dict[str, np.ndarray]) -> None:
        """What `store` gave."""
        self.weight, self.average = map(float, values["numbers"][:2])
        self.num_rows, self.num_fresh, self.spacing, self.num_moves = map(int, values["numbers"][2:])
        self.total, self.recent, self.fresh, self.before = np.array(values["tables"], "float64")
        self.record = np.array(values["record"], "float64").reshape(-1, 4)
