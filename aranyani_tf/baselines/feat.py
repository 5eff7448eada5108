"""FEAT and 2FAHT: Hoeffding trees that split for fairness, and replace the parts of themselves that have grown old.

FEAT (Zhang and Bifet, DS 2020) is FAHT's idea on the adaptive Hoeffding tree: where the error of a branch changes, an
alternate branch is grown, and takes its place once it errs less. 2FAHT (Zhang and Zhao, 2020) trades gain for fairness
by a knob α, grows alternates at fixed intervals, and lets them win by error and unfairness together. Their merits are

    FEAT   information gain × FG where FG > 0, else information gain,
    2FAHT  information gain × exp(α · FG),             FG = |Disc(D)| − Σ_v |Disc(D_v)|,

with Disc as in FAHT; other than there, the parts of a split count alike, however many rows they have.
"""

import math
from collections.abc import Callable
from typing import Any

from river.drift import DummyDriftDetector
from river.tree import HoeffdingAdaptiveTreeClassifier
from river.tree.nodes.branch import DTBranch
from river.tree.nodes.hatc_nodes import AdaLeafClassifier, AdaNumBinaryBranchClass
from river.tree.split_criterion import InfoGainSplitCriterion

from aranyani_tf.arguments import require_number, require_seed, require_whole
from aranyani_tf.baselines.faht import FahtLearner, FairInformationGain, FairNaiveBayesLeaf, Pairs, discrimination


class FairEnhancingGain(FairInformationGain):
    """FEAT's merit, on counts of (label, group)."""

    def combined(self, gain: float, fairness_gain: float) -> float:
        return gain * fairness_gain if fairness_gain > 0 else gain

    @staticmethod
    def fairness_gain(before: Pairs, after: list[Pairs]) -> float:
        return abs(discrimination(before)) - sum(abs(discrimination(part)) for part in after)


class FlexibleGain(FairEnhancingGain):
    """2FAHT's merit; α = 0 is plain information gain."""

    def __init__(self, min_branch_fraction: float, trade_off: float) -> None:
        super().__init__(min_branch_fraction)
        self.trade_off = trade_off

    def combined(self, gain: float, fairness_gain: float) -> float:
        return gain * math.exp(self.trade_off * fairness_gain)


class LabelAndGroup(tuple):
    """A class of the tree, (label, group), that equals a bare label too if it is the same: so River's nodes, which
    compare the class of a row with what was predicted, count errors by labels."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        return self[0] == other if isinstance(other, int) else tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


class UnfairError:
    """Mean error × exp(gap of the decisions), at most 1: in the place of the mean error by which River compares
    branches. It is told errors; with two labels, the class of the row (`row`) tells what was decided."""

    def __init__(self) -> None:
        self.n = self.errors = 0
        self.rows, self.positive = [0, 0], [0, 0]  # by group
        self.row = (0, 0)

    def update(self, error: int) -> None:
        label, group = self.row
        self.n += 1
        self.errors += error
        self.rows[group] += 1
        self.positive[group] += label ^ error

    def get(self) -> float:
        if not self.n:
            return 0.0
        rates = [positive / rows for positive, rows in zip(self.positive, self.rows, strict=True) if rows]
        return min(1.0, self.errors / self.n * math.exp(max(rates) - min(rates)))

    def clone(self) -> "UnfairError":
        return UnfairError()


class FairAdaptiveLeaf(AdaLeafClassifier, FairNaiveBayesLeaf):
    """A leaf that counts (label, group), decides by labels, and watches its errors."""


class JudgedByFairness:
    """A node whose error is an `UnfairError`."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._mean_error = UnfairError()

    def learn_one(self, x: dict, y: LabelAndGroup, **place: Any) -> None:
        self._mean_error.row = y
        super().learn_one(x, y, **place)  # type: ignore[misc]


class FlexibleLeaf(JudgedByFairness, FairAdaptiveLeaf):  # type: ignore[misc]  # nodes pass places by name
    pass


class FlexibleBranch(JudgedByFairness, AdaNumBinaryBranchClass):
    pass


class FairAdaptiveTree(HoeffdingAdaptiveTreeClassifier):
    """River's adaptive Hoeffding tree over classes (label, group); probabilities are those of the labels."""

    leaf, branch = FairAdaptiveLeaf, AdaNumBinaryBranchClass

    def __init__(self, criterion: Callable[[float], InfoGainSplitCriterion] = FairEnhancingGain,
                 **options: Any) -> None:
        super().__init__(**options)
        self.criterion = criterion

    def _new_split_criterion(self) -> InfoGainSplitCriterion:
        return self.criterion(self.min_branch_fraction)

    def _new_leaf(self, initial_stats: dict | None = None, parent: Any = None) -> FairAdaptiveLeaf:
        return self.leaf(initial_stats or {}, 0 if parent is None else parent.depth + 1, self.splitter,
                         drift_detector=self.drift_detector.clone(), rng=self._rng)

    def _branch_selector(self, numerical_feature: bool = True, multiway_split: bool = False) -> type:
        return self.branch  # features are numbers here

    def predict_proba_one(self, x: dict) -> dict[int, float]:
        """The answers of the leaf, and of those of the alternate branches on the way to it, are summed."""
        votes: dict[int, float] = {}
        waiting = [self._root] if self._root is not None else []
        while waiting:
            node = waiting.pop()
            if isinstance(node, list):
                waiting += node
            elif isinstance(node, DTBranch):
                waiting.append(node.traverse(x, until_leaf=True))
            else:
                for label, vote in (node.prediction(x, tree=self) or {}).items():
                    votes[label] = votes.get(label, 0.0) + vote
        total = sum(votes.values())
        return {label: vote / total for label, vote in votes.items()} if total else {}


class FlexibleTree(FairAdaptiveTree):
    leaf, branch = FlexibleLeaf, FlexibleBranch


class AdaptiveLearner(FahtLearner):
    """FEAT or 2FAHT behind the interface of all learners; rows without a group are not learned from."""

    def learn(self, features: dict, label: int, group: int, **weight: float) -> None:
        if group >= 0:
            self.classifier.learn_one(features, LabelAndGroup((label, group)), **weight)


def feat(seed: int | None = 0, **options: Any) -> AdaptiveLearner:
    """FEAT; features that cannot win a leaf's split any more are no longer watched there, as in the paper."""
    require_seed(seed)
    return AdaptiveLearner(FairAdaptiveTree(seed=seed, **({"remove_poor_attrs": True} | options)))


def flexible_faht(trade_off: float = 1.0, *, period: int = 330, seed: int | None = 0,
                  **options: Any) -> AdaptiveLearner:
    """2FAHT.

    Args:
        trade_off: α, how much fairness counts in a split.
        period: rows after which a branch begins an alternate for itself.
        seed: of the rows' random weights.
        options: of River's `HoeffdingAdaptiveTreeClassifier`.
    """
    require_number("trade_off", trade_off, 0)
    require_whole("period", period, 1)
    require_seed(seed)
    every_so_often = DummyDriftDetector(trigger_method="fixed", t_0=period)
    return AdaptiveLearner(FlexibleTree(lambda fraction: FlexibleGain(fraction, trade_off), seed=seed,
                                        drift_detector=every_so_often, **options))
