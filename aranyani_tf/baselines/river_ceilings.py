"""River's strongest learners that mind nothing but accuracy: the adaptive random forest (Gomes et al., 2017), and
logistic regression."""

from typing import Any

from aranyani_tf.baselines.hoeffding import RiverLearner


def adaptive_random_forest(num_labels: int = 2, seed: int | None = 0, num_trees: int = 10,
                           **options: Any) -> RiverLearner:
    """With River's own defaults; its time grows with the number of trees."""
    from river.forest import ARFClassifier

    return RiverLearner(ARFClassifier(n_models=num_trees, seed=seed, **options), num_labels)


def scaled_logistic_regression(**options: Any) -> RiverLearner:
    """Of two labels, on features scaled by the rows so far; with River's own defaults."""
    from river import linear_model, preprocessing

    return RiverLearner(preprocessing.StandardScaler() | linear_model.LogisticRegression(**options))
