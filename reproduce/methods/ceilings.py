"""What could be had if nobody asked for fairness: no λ, and the group is not looked at."""

from aranyani_tf.baselines.pieces import boosting_on_windows, sgd
from aranyani_tf.baselines.river_ceilings import adaptive_random_forest, scaled_logistic_regression
from harness.registry import register_method

NEVER = {"group_needed": "never"}

# Five trees of River's ten and 50 rounds of boosting of 100: each halves the time.
register_method("arf", label="adaptive random forest", marker="h", color="#117733", nanoseconds=7_000, **NEVER,
                learner=lambda seed, fairness_weight: adaptive_random_forest(seed=seed, num_trees=5))
register_method("logistic", label="logistic regression", marker="_", color="#661100", nanoseconds=1_000, **NEVER,
                learner=lambda seed, fairness_weight: scaled_logistic_regression())
register_method("sgd", label="SGD", marker="|", color="#6699CC", nanoseconds=1_000, **NEVER,
                learner=lambda seed, fairness_weight: sgd(seed=seed))
register_method("boosting_on_windows", label="boosting on windows", marker="*", color="#AA4466", nanoseconds=3_100,
                **NEVER, learner=lambda seed, fairness_weight: boosting_on_windows(seed=seed, max_iter=50))
