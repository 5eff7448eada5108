"""FABBOO (Iosifidis and Ntoutsi, DS 2020): boosted Hoeffding trees whose bar is lowered for the deprived group.

**Boosting.** Each row goes through N trees in turn (OSBoost of Chen, Lin and Lu, 2012), with the weight

    w₁ = 1,   wᵢ₊₁ = min(1, (1 − γ)^(zᵢ/2)) / (1 − s·imbalance),   zᵢ = Σ_{j≤i} (±1 − γ/(2 + γ)),

+1 for each tree that was right so far and −1 for each that was not, s = 1 for positive labels and −1 for negative
ones. The imbalance is W₋ − W₊, two shares of labels that decay by λ, so that the rarer label weighs more.

**Boundary.** All trees vote alike, and 1 is said where their mean exceeds 1/2. The deprived group passes at θ ≤ 1/2.
Whenever |discrimination| ≥ ε, counted over all rows so far, k more of the group should have passed to be even. Of the
last M positives of that group that were refused, sorted by confidence, the best k would pass at the k-th one: that is
the new θ. If too many have passed (k < 0), θ goes half of the way back to 1/2.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from river.tree import HoeffdingAdaptiveTreeClassifier, HoeffdingTreeClassifier

from aranyani_tf.arguments import require_choice, require_number, require_seed, require_whole
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.row_rules import RowRules, as_rows

SMOOTHING = 0.1  # the Java's: keeps the shares of labels below 1, and the weights finite
MIDDLE = 0.5


class ClassImbalance:
    """Which label has been rarer of late: two shares that decay by `decay` a row."""

    def __init__(self, decay: float) -> None:
        self.decay, self.shares = decay, [0.0, 0.0]  # of labels 0 and 1

    def count(self, label: int) -> None:
        decayed = [self.decay * share + (1 - self.decay) * (label == each) for each, share in enumerate(self.shares)]
        total = sum(decayed) + SMOOTHING
        self.shares = [share / total for share in decayed]

    def weight(self, label: int) -> float:
        """By which a row of this label is multiplied: above 1 for the rarer one."""
        imbalance = self.shares[0] - self.shares[1]
        return 1 / (1 - imbalance) if label == 1 else 1 / (1 + imbalance)


def boosting_weights(right: list[bool], gamma: float, label_weight: float) -> list[float]:
    """The weight of a row for each tree, from which trees were right about it; the first one sees all rows alike.

    >>> [round(weight, 3) for weight in boosting_weights([True, True, False], gamma=0.1, label_weight=2.0)]
    [1.0, 1.902, 1.809]
    """
    margin, weights = 0.0, [1.0]
    for is_right in right[:-1]:
        margin += (1 if is_right else -1) - gamma / (2 + gamma)
        weights.append(label_weight * (1.0 if margin <= 0 else (1 - gamma) ** (margin / 2)))
    return weights


def mean_vote(votes: list[dict[int, float]]) -> tuple[float, float]:
    """The mean of the trees' probabilities of labels 0 and 1, without those that say nothing; 1/2 if all do.

    >>> mean_vote([{0: 0.25, 1: 0.75}, {0: 1.0}, {}])
    (0.625, 0.375)
    """
    totals = [sum(vote.get(label, 0.0) for vote in votes) for label in (0, 1)]
    both = sum(totals)
    return (totals[0] / both, totals[1] / both) if both > 0 else (MIDDLE, MIDDLE)


def share_of_positives(counts: Sequence[int]) -> float:
    return counts[1] / (counts[0] + counts[1])


class RefusedConfidences:
    """The last `size` confidences of positives that were refused, at hand in the order of time and sorted."""

    def __init__(self, size: int) -> None:
        self.size, self.by_time = size, deque[float]()
        self.ascending: list[float] = []

    def add(self, confidence: float) -> None:
        if len(self.by_time) == self.size:
            del self.ascending[bisect_left(self.ascending, self.by_time.popleft())]
        self.by_time.append(confidence)
        insort(self.ascending, confidence)

    def boundary(self, passing: int) -> float:
        """Above it lie `passing` of the confidences; it is the lowest of them if there are not more than that."""
        return self.ascending[max(len(self.ascending) - 1 - passing, 0)] if self.ascending else MIDDLE


class Fabboo:
    """FABBOO for two labels and two groups, behind the interface of all learners.

    Rows without a label are not learned from. Those without a group are, but they pass at 1/2 and are not counted.

    Args:
        notion: what is to be even: "demographic_parity", "equal_opportunity", or "none" for the boosting alone.
        tolerance: ε, discrimination up to which the boundary is left where it is.
        deprived_group: whose bar is lowered; None is the one with the smaller share of positive labels so far.
        num_trees: N.
        weak_learner: "adaptive" trees, as in the Java, or "plain" Hoeffding trees, for about half of the time.
        label_decay: λ.
        buffer_size: M.
        gamma: γ, by how much trees are expected to be better than chance.
        seed: of adaptive trees, which weigh rows at random.
        **tree_options: River's, such as `nominal_attributes`.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=100)
    >>> Fabboo(num_trees=3).predict_then_learn(stream.features, stream.labels, stream.groups).shape
    (100, 2)
    """

    num_labels = num_groups = 2

    def __init__(self, notion: str = "demographic_parity", *, tolerance: float = 0.001,
                 deprived_group: int | None = None, num_trees: int = 20, weak_learner: str = "adaptive",
                 label_decay: float = 0.8, buffer_size: int = 2000, gamma: float = 0.1, seed: int | None = 0,
                 **tree_options: Any) -> None:
        require_choice("notion", notion, ("demographic_parity", "equal_opportunity", "none"))
        require_choice("weak_learner", weak_learner, ("adaptive", "plain"))
        require_number("tolerance", tolerance, 0, 1)
        require_number("label_decay", label_decay, 0, 1, below=True)
        require_number("gamma", gamma, 0, 1, below=True)
        require_whole("num_trees", num_trees, 1)
        require_whole("buffer_size", buffer_size, 1)
        require_whole("deprived_group", 0 if deprived_group is None else deprived_group, 0, 1)
        require_seed(seed)
        self.notion, self.tolerance, self.gamma = notion, tolerance, gamma
        self.told_deprived, self.deprived = deprived_group, deprived_group
        self.trees: list[HoeffdingTreeClassifier] = [
            HoeffdingTreeClassifier(**tree_options) if weak_learner == "plain" else HoeffdingAdaptiveTreeClassifier(
                seed=None if seed is None else seed + number, **tree_options) for number in range(num_trees)]
        self.imbalance, self.boundary = ClassImbalance(label_decay), MIDDLE
        self.refused = [RefusedConfidences(buffer_size), RefusedConfidences(buffer_size)]
        self.decisions, self.labels = [[0, 0], [0, 0]], [[0, 0], [0, 0]]  # counts of [group][which]

    @property
    def state_bytes(self) -> int:
        """What is remembered: trees, and the buffers of confidences, of two numbers each."""
        return sum(tree._raw_memory_usage for tree in self.trees) + 16 * sum(len(each.by_time) for each in self.refused)

    def predict_then_learn(self, x: Any, y: Any, a: Any) -> np.ndarray:
        """What was said about each row before learning from it, (n, label)."""
        x, y, a = as_rows(x, y, a)
        for name, codes in (("label", y), ("group", a)):
            if len(codes) and codes.max() > 1:
                raise ArgumentError(f"FABBOO is for two labels and two groups, got {name} {codes.max()}")
        (x, y, a), *_ = RowRules(x.shape[1], 2, 2, x.dtype.name).checked(x, y, a)
        return np.array([self.one(dict(enumerate(features)), int(label), int(group))
                         for features, label, group in zip(x.tolist(), y, a, strict=True)]).reshape(-1, 2)

    def one(self, features: dict[int, float], label: int, group: int) -> tuple[float, float]:
        """The probabilities of both labels; afterwards the row has been learned."""
        votes = [tree.predict_proba_one(features) for tree in self.trees]
        refusal, confidence = mean_vote(votes)
        is_lifted = self.notion != "none" and group == self.deprived and confidence > self.boundary and refusal < 1
        if group >= 0 and self.notion != "none":
            self.count(int(is_lifted or confidence > refusal), confidence, label, group)
            self.move_boundary()
        if label >= 0:
            self.imbalance.count(label)
            right = [bool(vote) and max(vote, key=vote.__getitem__) == label for vote in votes]
            weights = boosting_weights(right, self.gamma, self.imbalance.weight(label))
            for tree, weight in zip(self.trees, weights, strict=True):
                tree.learn_one(features, label, w=weight)
        votes_for = 1.0 if is_lifted else confidence  # as the Java votes, for whoever is above θ
        return refusal / (refusal + votes_for), votes_for / (refusal + votes_for)

    def count(self, prediction: int, confidence: float, label: int, group: int) -> None:
        """Counts a decision, if the notion looks at it, and keeps the confidence of a positive that was refused."""
        if label == 1 or self.notion == "demographic_parity":
            self.decisions[group][prediction] += 1
        if label == 1 and prediction == 0:
            self.refused[group].add(confidence)
        if label >= 0:
            self.labels[group][label] += 1
        if self.told_deprived is None and all(map(sum, self.labels)):
            deprived = int(share_of_positives(self.labels[1]) < share_of_positives(self.labels[0]))
            if deprived != self.deprived:
                self.deprived, self.boundary = deprived, MIDDLE

    def move_boundary(self) -> None:
        """θ for the next row, from what was decided about both groups so far."""
        if self.deprived is None or not all(map(sum, self.decisions)):
            return
        own, favoured = self.decisions[self.deprived], share_of_positives(self.decisions[1 - self.deprived])
        if abs(favoured - share_of_positives(own)) < self.tolerance:
            return
        missing = int(sum(own) * favoured - own[1])  # towards 0
        if missing < 0:
            self.boundary += (MIDDLE - self.boundary) / 2
        else:
            self.boundary = self.refused[self.deprived].boundary(missing)
