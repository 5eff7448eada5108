"""Thresholds that differ by group, so that the rates of decisions differ by no more than a target."""

from typing import Any

import numpy as np

from aranyani_tf.arguments import require_choice, require_number, require_object, require_whole
from aranyani_tf.control import threshold_walk
from aranyani_tf.control.decisions import GAPS, gap_name
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.fairness import notions
from aranyani_tf.fairness.notions import Notion
from aranyani_tf.streams.row_rules import as_numbers, codes, is_no_code

KINDS = dict(zip(GAPS, (threshold_walk.ALWAYS, threshold_walk.POSITIVE, threshold_walk.EACH), strict=True))
STATE = ("prices", "counts", "seen")


class GroupThresholds:
    """Any learner's probabilities of label 1, shifted by group: **the group is used to decide.**

    That may be forbidden where you are, as treating people differently by their group; ask before you use it. Where it
    is not allowed, see `ParityTarget`, which needs the group to learn and never to decide; docs/live.md compares both.

    Prices of a rate above another's move with each row (see `threshold_walk`); nothing of the learner is changed, so
    it may have a λ of its own, or be no model of ours at all.

    Args:
        learner: whatever has `predict_then_learn(x, y, a)`, (n, label); None if the probabilities come from elsewhere:
            then `decide` and `learn` are what you call.
        target: the largest difference between two groups' rates.
        notion: "demographic_parity", "equal_opportunity" (label 1) or "equalized_odds".
        num_groups: number of groups; a group of −1 is unknown: such a row has no shift and counts for nothing.
        rate: η, how fast prices add up.
        gain: γ, how much of a price comes at once.
        memory: rows over which the recent rates are taken.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=4000, seed=0)
    >>> fair = ar.GroupThresholds(ar.Aranyani(fairness_weight=0.0, seed=0), target=0.05)
    >>> records = ar.learn_stream(fair, stream)
    >>> bool(records["demographic_parity"].iloc[-1] < 0.06)
    True
    """

    def __init__(self, learner: Any = None, *, target: float, notion: str | Notion = "demographic_parity",
                 num_groups: int = 2, rate: float = 0.003, gain: float = 3.0, memory: float = 200.0) -> None:
        require_number("target", target, 0, 1, below=True)
        require_whole("num_groups", num_groups, 2)
        require_number("rate", rate, 0, above=True)
        require_number("gain", gain, 0)
        require_number("memory", memory, 1, above=True)
        if learner is not None:
            require_object("learner", learner, ["predict_then_learn"], "a model")
        if getattr(learner, "num_labels", 2) != 2 or getattr(learner, "positive_label", 1) != 1:
            raise ArgumentError("thresholds by group need two labels, of which 1 is the positive one; the learner has "
                                f"num_labels={learner.num_labels} and positive_label={learner.positive_label}")
        if getattr(learner, "num_groups", num_groups) > num_groups:
            raise ArgumentError(f"the learner has num_groups={learner.num_groups}, and the thresholds {num_groups}; "
                                f"pass num_groups={learner.num_groups}")
        self.metric = gap_name(notions.get(notion))
        require_choice("notion", self.metric, KINDS)
        self.learner, self.target, self.num_groups = learner, target, num_groups
        self.rate, self.gain, self.memory, self.kind = rate, gain, memory, KINDS[self.metric]
        num_conditions = 2 if self.kind == threshold_walk.EACH else 1
        self.prices = np.zeros((2, num_conditions, num_groups, num_groups))  # what was added up, and what came at once
        self.counts = np.zeros((3, num_conditions, num_groups, 2))  # rows, and those decided 1: recent, later, ever
        self.seen = np.zeros(2)  # rows, with fading and without

    num_labels, positive_label = 2, 1

    def __getattr__(self, name: str) -> Any:
        """What the records ask a learner for (`samples_per_step`, `compute_dtype`, …) is the learner's own."""
        if name.startswith("_") or "learner" not in vars(self):
            raise AttributeError(name)
        return getattr(self.learner, name)

    def decide(self, probabilities: Any, groups: Any) -> np.ndarray:
        """Rows' probabilities of label 1, (n,), as they are compared with ½; nothing is learned by it."""
        given = as_numbers("probabilities", probabilities)
        flat, codes = self.checked(given, groups)
        scores = np.array([threshold_walk.shifted_row(self.kind, p, k, self.prices, self.counts, self.seen[0])
                           for p, k in zip(flat, codes, strict=True)])
        return scores.reshape(given.shape)

    def decide_then_learn(self, probabilities: Any, labels: Any, groups: Any) -> np.ndarray:
        """The same of rows in order, (n,), each of which is learned before the next; labels may be −1."""
        flat, codes = self.checked(probabilities, groups)
        labels = self.codes("label", labels, 2, len(flat))
        scores = np.empty(len(flat))
        threshold_walk.walk(self.kind, flat, labels, codes, *self.moves, scores)
        return scores

    def learn(self, decisions: Any, labels: Any, groups: Any) -> None:
        """Decisions that were given before, when their labels and groups are known."""
        decisions, codes = self.checked(decisions, groups)
        for decided, label, group in zip(decisions, self.codes("label", labels, 2, len(decisions)), codes,
                                         strict=True):
            threshold_walk.learn_row(self.kind, float(decided), int(label), group, *self.moves)

    @property
    def moves(self) -> tuple:
        """What moves the prices, and what is moved, as the compiled loop takes them."""
        return (float(self.target), float(self.rate), float(self.gain), 1 - 1 / self.memory, self.prices, self.counts,
                self.seen)

    def predict_then_learn(self, x: Any, y: Any, a: Any) -> np.ndarray:
        """(n, label): the learner's answers as they are decided by; both learn from the rows."""
        if self.learner is None:
            raise ArgumentError("there is no learner: pass one, or call decide and learn with its probabilities")
        skips = getattr(self.learner, "on_bad_rows", "raise") == "skip"
        if not skips:  # or else the learner would have learned from what is refused below
            self.codes("label", y, 2), self.codes("group", a, self.num_groups)
        said = np.asarray(self.learner.predict_then_learn(x, y, a))
        good = ~np.isnan(said[:, 1]) if skips else slice(None)  # of the others nothing was learned
        scores = np.full(len(said), np.nan)
        scores[good] = np.clip(self.decide_then_learn(
            said[good, 1], np.asarray(y)[good], np.asarray(a)[good]), 0.0, 1.0)
        # As wide as ½ is from the largest number below it, so that the larger of the two is what was decided.
        return np.stack([np.where(scores >= 0.5, np.minimum(1 - scores, np.nextafter(0.5, 0)), 1 - scores), scores], 1)

    def checked(self, values: Any, groups: Any) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities or decisions, and groups, as the compiled loop takes them."""
        values = np.atleast_1d(as_numbers("probabilities", values))
        if values.ndim != 1:
            raise RowError(f"probabilities of label 1 must be (n,) beside as many groups; got shape {values.shape}")
        bad = ~((values >= 0) & (values <= 1))
        if bad.any():
            raise RowError(f"row {int(bad.argmax()):,}: the probability is {values[bad.argmax()]}, must be from 0 to 1")
        return np.require(values, "float64", ["C", "W"]), self.codes("group", groups, self.num_groups, len(values))

    @staticmethod
    def codes(name: str, given: Any, count: int, num_rows: int | None = None) -> np.ndarray:
        """Labels or groups, as many as there are probabilities, if that is known."""
        found = np.atleast_1d(as_numbers(f"{name}s", given))
        num_rows = len(found) if num_rows is None else num_rows
        if found.shape not in ((num_rows,), (num_rows, 1)):
            raise RowError(f"there must be a {name} for each probability; got shapes {(num_rows,)} and {found.shape}")
        found = found.reshape(-1)
        wrong = is_no_code(found, count)
        if wrong.any():
            raise RowError(f"row {int(wrong.argmax()):,}: {name} is {found[wrong.argmax()]}, must be {codes(count)}")
        return np.require(found, "int64", ["C", "W"])

    @property
    def thresholds(self) -> np.ndarray:
        """The probability from which on each group is decided 1, (group,), for demographic parity."""
        if self.kind != threshold_walk.ALWAYS:
            raise ArgumentError(f"with {self.metric} the shift depends on the probability; ask `decide`")
        return 1 - self.decide(np.full(self.num_groups, 0.5), np.arange(self.num_groups))

    def get_state(self) -> dict[str, np.ndarray]:
        """All that moves, as arrays: what a service saves beside the learner."""
        return {name: getattr(self, name).copy() for name in STATE}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """What `get_state` gave; all of it, or nothing if a part is wrong."""
        if not isinstance(state, dict):
            raise ArgumentError(f"the state is what get_state() gave, a dict of arrays; got {type(state).__name__}")
        found = {}
        for name, value in state.items():
            if name not in STATE:
                raise ArgumentError(f"the state is of other settings: {name!r} is none of {', '.join(STATE)}")
            found[name] = as_numbers(name, value)
            if found[name].shape != getattr(self, name).shape or not np.isfinite(found[name]).all():
                raise ArgumentError(f"the state is of other settings: {name} has shape {found[name].shape}, or a value "
                                    "that is not finite")
        for name, value in found.items():
            getattr(self, name)[...] = value
