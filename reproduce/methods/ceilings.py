"""What could be had if nobody asked for fairness: no λ, and the group is not looked at.

Boosting is fitted for the first time at the end of its first piece, which is shorter than half of the first tenth of
every stream: settings are chosen by the other half.
"""

from aranyani_tf.baselines.pieces import boosting_on_windows, sgd
from aranyani_tf.baselines.river_ceilings import adaptive_random_forest, scaled_logistic_regression
from harness.registry import register_method

NEVER = {"group_needed": "never"}
RATES = {"knob": "learning_rate", "knob_values": (0.01, 0.003, 0.03, 0.1)}  # River's own, and others


def river_sgd(rate):
    from river.optim import SGD

    return SGD(rate)


# Five trees of River's ten and 50 rounds of boosting of 100: each halves the time.
register_method("arf", label="adaptive random forest", marker="h", color="#117733", nanoseconds=10_000, **NEVER,
                knob="grace_period", knob_values=(50, 25, 100, 200), learner=lambda seed, fairness_weight, grace_period:
                adaptive_random_forest(seed=seed, num_trees=5, grace_period=grace_period))
register_method("logistic", label="logistic regression", marker="_", color="#661100", nanoseconds=1_200, **NEVER,
                **RATES, learner=lambda seed, fairness_weight, learning_rate: scaled_logistic_regression(
                    optimizer=river_sgd(learning_rate)))
register_method("sgd", label="SGD", marker="|", color="#6699CC", nanoseconds=1_500, **NEVER, **RATES,
                learner=lambda seed, fairness_weight, learning_rate: sgd(seed=seed, eta0=learning_rate))
register_method("boosting_on_windows", label="boosting on windows", marker="*", color="#AA4466", nanoseconds=7_000,
                **NEVER, knob="learning_rate", knob_values=(0.1, 0.05, 0.2, 0.3),  # scikit-learn's own, and others
                learner=lambda seed, fairness_weight, learning_rate: boosting_on_windows(
                    seed=seed, piece=350, max_iter=50, learning_rate=learning_rate))
