"""Hoeffding trees of River as learners of a stream: HT (Domingos and Hulten, 2000) and AHT (Bifet and Gavaldà, 2009).

The rows go in as they are: not normalised, and no exception is turned into an answer.
"""

from typing import Any

import numpy as np

from aranyani_tf.streams.row_rules import ANY_GROUP, RowRules, as_rows


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

    def predict_then_learn(self, x: Any, y: Any, a: Any) -> np.ndarray:
        """What was said about each row before learning from it, (n, label); the group is not used."""
        x, y, a = as_rows(x, y, a)
        (x, y, a), *_ = RowRules(x.shape[1], self.num_labels, ANY_GROUP, x.dtype.name).checked(x, y, a)
        outputs = np.full((len(x), self.num_labels), 1 / self.num_labels)  # nothing seen yet
        for row, (features, label, group) in enumerate(zip(x.tolist(), y.tolist(), a.tolist(), strict=True)):
            features = dict(enumerate(features))
            said = self.classifier.predict_proba_one(features)
            if said:
                outputs[row] = [said.get(label, 0.0) for label in range(self.num_labels)]
            if label >= 0:
                self.learn(features, label, group)
        return outputs

    def learn(self, features: dict[int, float], label: int, group: int) -> None:
        self.classifier.learn_one(features, label)


def hoeffding_tree(num_labels: int = 2, **options: Any) -> RiverLearner:
    """River's Hoeffding tree with its own defaults."""
    from river.tree import HoeffdingTreeClassifier

    return RiverLearner(HoeffdingTreeClassifier(**options), num_labels)


def adaptive_hoeffding_tree(num_labels: int = 2, seed: int | None = 0, **options: Any) -> RiverLearner:
    """River's adaptive Hoeffding tree with its own defaults; it weighs rows at random."""
    from river.tree import HoeffdingAdaptiveTreeClassifier

    return RiverLearner(HoeffdingAdaptiveTreeClassifier(seed=seed, **options), num_labels)
