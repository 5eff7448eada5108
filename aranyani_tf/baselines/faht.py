"""FAHT (Zhang and Ntoutsi, IJCAI 2019): a Hoeffding tree that splits where it also becomes fairer.

The merit of a split is information gain × fairness gain,

    FG = |Disc(D)| − Σ_v |D_v|/|D| · |Disc(D_v)|,     Disc = P(+ | a=0) − P(+ | a=1),

and plain information gain where FG = 0. River's tree counts classes only, so each class here is a pair
(label, group): its counts give Disc, and whatever the tree says or tests is summed over the groups.
"""

import math
from typing import Any

from river.tree import HoeffdingTreeClassifier
from river.tree.nodes.htc_nodes import LeafMajorityClass, LeafNaiveBayesAdaptive
from river.tree.split_criterion import InfoGainSplitCriterion
from river.tree.utils import BranchFactory

from aranyani_tf.arguments import require_choice
from aranyani_tf.baselines.hoeffding import RiverLearner

Pairs = dict[tuple[int, int], float]  # (label, group) → weight

POSITIVE = 1


def by_label(pairs: Pairs) -> dict[int, float]:
    """Sums over the groups: {(label, group): weight} → {label: weight}."""
    sums: dict[int, float] = {}
    for (label, _), weight in pairs.items():
        sums[label] = sums.get(label, 0.0) + weight
    return sums


def discrimination(pairs: Pairs) -> float:
    """P(+ | a=0) − P(+ | a=1); 0 where a group is missing."""
    rates = []
    for group in (0, 1):
        total = sum(weight for (_, a), weight in pairs.items() if a == group)
        if total <= 0:
            return 0.0
        rates.append(pairs.get((POSITIVE, group), 0.0) / total)
    return rates[0] - rates[1]


class FairInformationGain(InfoGainSplitCriterion):
    """Information gain × fairness gain, on counts of (label, group)."""

    def merit_of_split(self, pre_split_dist: Pairs, post_split_dist: list[Pairs]) -> float:
        gain = super().merit_of_split(by_label(pre_split_dist), [by_label(part) for part in post_split_dist])
        if gain == -math.inf:
            return gain
        return self.combined(gain, self.fairness_gain(pre_split_dist, post_split_dist))

    def combined(self, gain: float, fairness_gain: float) -> float:
        return gain if fairness_gain == 0 else gain * fairness_gain

    @staticmethod
    def fairness_gain(before: Pairs, after: list[Pairs]) -> float:
        weights = [sum(part.values()) for part in after]
        remaining = sum(weight * abs(discrimination(part)) for weight, part in zip(weights, after, strict=True))
        return abs(discrimination(before)) - remaining / sum(weights)

    @staticmethod
    def range_of_merit(pre_split_dist: Pairs) -> float:
        return InfoGainSplitCriterion.range_of_merit(by_label(pre_split_dist))


class ReleasedFairInformationGain(FairInformationGain):
    """What the public Java computes: it looks for ">50k" where the data says ">50K", finds no discrimination
    anywhere, and multiplies by that 0. All splits tie, and the first attribute wins."""

    def combined(self, gain: float, fairness_gain: float) -> float:
        return 0.0 * gain


CRITERIA = {"published": FairInformationGain, "released": ReleasedFairInformationGain}


class FairLeaf(LeafMajorityClass):
    """A leaf that counts (label, group), and decides by labels."""

    def prediction(self, x: dict, *, tree: Any = None) -> dict[int, float]:
        return by_label(super().prediction(x, tree=tree))

    def observed_class_distribution_is_pure(self) -> bool:
        return sum(weight > 0 for weight in by_label(self.stats).values()) < 2

    def best_split_suggestions(self, criterion: Any, tree: Any) -> list[BranchFactory]:
        if max(by_label(self.stats).values()) / self.total_weight > tree.max_share_to_split:
            return [BranchFactory()]
        # Past River's own test of the same kind, which would look at single pairs.
        return super(LeafMajorityClass, self).best_split_suggestions(criterion, tree)


class FairNaiveBayesLeaf(FairLeaf, LeafNaiveBayesAdaptive):
    """Naive Bayes where it was right more often than the majority, both judged by labels."""

    def learn_one(self, x: dict, y: tuple[int, int], *, w: float = 1.0, tree: Any = None) -> None:
        if self.is_active() and self.stats:
            votes = by_label(LeafMajorityClass.prediction(self, x)), by_label(self.naive_bayes(x))
            majority, bayes = (max(vote, key=vote.__getitem__) == y[0] if vote else False for vote in votes)
            self._mc_correct_weight += w * majority
            self._nb_correct_weight += w * bayes
        super(LeafNaiveBayesAdaptive, self).learn_one(x, y, w=w, tree=tree)

    def naive_bayes(self, x: dict) -> dict:
        from river.tree.utils import do_naive_bayes_prediction

        return do_naive_bayes_prediction(x, self.stats, self.splitters)


class FairHoeffdingTree(HoeffdingTreeClassifier):
    """River's Hoeffding tree over classes (label, group); probabilities are those of the labels."""

    def __init__(self, criterion: str = "published", leaf_prediction: str = "mc", **options: Any) -> None:
        super().__init__(leaf_prediction=leaf_prediction, **options)
        require_choice("criterion", criterion, tuple(CRITERIA))
        require_choice("leaf_prediction", leaf_prediction, ("mc", "nba"))
        self.criterion = criterion

    def _new_split_criterion(self) -> InfoGainSplitCriterion:
        return CRITERIA[self.criterion](self.min_branch_fraction)

    def _new_leaf(self, initial_stats: dict | None = None, parent: Any = None) -> FairLeaf:
        leaf = FairLeaf if self._leaf_prediction == "mc" else FairNaiveBayesLeaf
        return leaf(initial_stats or {}, 0 if parent is None else parent.depth + 1, self.splitter)

    def predict_proba_one(self, x: dict) -> dict[int, float]:
        if self._root is None:
            return {}
        leaf = self._root.traverse(x, until_leaf=True) if hasattr(self._root, "traverse") else self._root
        return leaf.prediction(x, tree=self)


class FahtLearner(RiverLearner):
    """FAHT behind the interface of all learners; rows without a group are not learned from."""

    def learn(self, features: dict, label: int, group: int, **weight: float) -> None:
        if group >= 0:
            self.classifier.learn_one(features, (label, group), **weight)


def faht(criterion: str = "published", leaf_prediction: str = "mc", **options: Any) -> FahtLearner:
    """FAHT with the published criterion, or with what the public Java does ("released")."""
    return FahtLearner(FairHoeffdingTree(criterion, leaf_prediction, **options))
