"""Hoeffding trees of River as learners of a stream: HT (Domingos and Hulten, 2000) and AHT (Bifet and Gavaldà, 2009).

The rows go in as they are: not normalised, and no exception is turned into an answer.
"""

from typing import Any

import numpy as np

from aranyani_tf.streams.row_rules import ANY_GROUP, RowRules, as_rows
from aranyani_tf.streams.row_weights import without_weightless


class RiverLearner:
    """Any River classifier behind the interface of all learners, `predict_then_learn`.

    Args:
        classifier: with `predict_proba_one` and `learn_one`.
        num_labels: how many labels there are.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=100)
    >>> hoeffding_tree().predict_then_learn(stream.features, stream.labels, stream.groups).shape
    (100, 2)
    """

    def __init__(self, classifier: Any, num_labels: int = 2) -> None:
        self.classifier, self.num_labels = classifier, num_labels

    def predict_then_learn(self, x: Any, y: Any, a: Any, sample_weight: Any = None) -> np.ndarray:
        """What was said about each row before learning from it, (n, label); the group is not used.

        Args:
            x, y, a: features (n, feature), labels and groups (n,); a label of −1 is missing: the row is not learned.
            sample_weight: of each row, (n,), for a classifier whose `learn_one` takes `w`; 0 teaches nothing.
        """
        x, y, a, *weights = as_rows(x, y, a, *([] if sample_weight is None else [sample_weight]))
        rules = RowRules(x.shape[1], self.num_labels, ANY_GROUP, x.dtype.name)
        (x, y, a, *weights), *_ = rules.checked(x, y, a, *weights)
        weighing: list[dict[str, float]] = [{}] * len(x)
        if weights:
            y, a, numbers = without_weightless(y, a, *weights)
            weighing = [{"w": weight} for weight in numbers.tolist()]
        outputs = np.empty((len(x), self.num_labels))
        for row, (features, label, group) in enumerate(zip(x.tolist(), y.tolist(), a.tolist(), strict=True)):
            features = dict(enumerate(features))
            outputs[row] = self.said(features)
            if label >= 0:
                self.learn(features, label, group, **weighing[row])
        return outputs

    def predict(self, x: Any) -> np.ndarray:
        """What is said about rows, (n, label), without learning from them."""
        nobody = np.full(len(x), -1)
        return self.predict_then_learn(x, nobody, nobody)

    def said(self, features: dict[int, float]) -> list[float]:
        probabilities = self.classifier.predict_proba_one(features)
        if not probabilities:  # nothing seen yet
            return [1 / self.num_labels] * self.num_labels
        return [probabilities.get(label, 0.0) for label in range(self.num_labels)]

    def learn(self, features: dict[int, float], label: int, group: int, **weight: float) -> None:
        self.classifier.learn_one(features, label, **weight)


def hoeffding_tree(num_labels: int = 2, **options: Any) -> RiverLearner:
    """River's Hoeffding tree with its own defaults."""
    from river.tree import HoeffdingTreeClassifier

    return RiverLearner(HoeffdingTreeClassifier(**options), num_labels)


def adaptive_hoeffding_tree(num_labels: int = 2, seed: int | None = 0, **options: Any) -> RiverLearner:
    """River's adaptive Hoeffding tree with its own defaults; it weighs rows at random."""
    from river.tree import HoeffdingAdaptiveTreeClassifier

    return RiverLearner(HoeffdingAdaptiveTreeClassifier(seed=seed, **options), num_labels)
