"""One says how large the gap of the decisions may be, and λ moves along the stream: see `steering` for how."""

from typing import Any, Self

import keras

from aranyani_tf.arguments import require_choice, require_number, require_whole
from aranyani_tf.control.decisions import GAPS
from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.penalties import Huber


def require_all_groups(update_when: str) -> None:
    """Raises where the groups of some decisions are never told: their rates cannot be known, nor may be used."""
    if update_when != "always":
        raise ArgumentError(f"update_when={update_when!r} hides the groups of all other decisions, so that no gap can "
                            "be known; a ParityTarget goes with 'always'. Pass a number as fairness_weight")


def with_defaults(constraint: str | None, penalty: Any, decay: float | None, forget: str | None,
                  online: bool) -> tuple[Any, ...]:
    """A model's constraint, penalty, decay and forget: those that keep a target best, where none was given."""
    if decay is None and online:
        decay = 0.01
    return (constraint or "output", Huber(linear_slope=1.0) if penalty is None else penalty, decay,
            forget or ("rows" if decay is None else "time"))


@keras.saving.register_keras_serializable("aranyani_tf")
class ParityTarget:
    """A gap that is not to be exceeded, in λ's place: `Aranyani(fairness_weight=ParityTarget(0.05))`.

    The group is needed to learn, as ever, and never to predict. A model that is given a target and no `constraint`,
    `penalty`, `decay` and `forget` has those that keep it best: the output level, a slope of 1, a decay of 0.01 in
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
        most: the largest λ.
        start: λ until it first moves.
        warm_up: rows before that.
        chance: how many standard errors the recent gap is shorter by, so that a small group's chance moves nothing.
        correction: whether the gaps that λ is multiplied with have offsets, which follow the decisions' gap; see
            `control.correction`. Constraints of one's own have none.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=4000, seed=0)
    >>> model = ar.Aranyani(fairness_weight=ar.ParityTarget(0.05), seed=0)
    >>> history = model.fit(stream, verbose=0)
    >>> bool(model.so_far()["demographic_parity"] < 0.06)
    True
    >>> list(model.fairness_weight_record.columns)
    ['row', 'fairness_weight', 'gap', 'recent_gap']
    """

    def __init__(self, target: float, *, metric: str | None = None, every: int = 50, memory: float = 250,
                 margin: float = 0.9, gain: float = 0.5, damping: float = 0.0, smoothing: float = 0.8,
                 most: float = 5.0, start: float = 0.0, warm_up: int = 200, chance: float = 0.0,
                 correction: bool = True) -> None:
        require_number("target", target, 0, 1, below=True)
        if metric is not None:
            require_choice("metric", metric, GAPS)
        require_whole("every", every, 1)
        require_whole("warm_up", warm_up, 0)
        require_number("margin", margin, 0, 1, above=True)
        require_number("smoothing", smoothing, 0, 1, below=True)
        require_number("memory", memory, 1)
        for name, value in (("most", most), ("gain", gain), ("damping", damping), ("chance", chance)):
            require_number(name, value, 0)
        require_number("start", start, 0, most)
        self.target, self.metric, self.every, self.memory, self.margin = target, metric, every, memory, margin
        self.gain, self.damping, self.smoothing, self.most = gain, damping, smoothing, most
        self.start, self.warm_up, self.chance, self.correction = start, warm_up, chance, bool(correction)

    def get_config(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**({"correction": False} | config))  # which those of earlier files did not have

    def __repr__(self) -> str:
        return f"ParityTarget({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
