"""FAHT, a Hoeffding tree that splits for fairness too: it has no λ."""

from aranyani_tf.baselines.faht import faht
from harness.registry import register_method

register_method("faht", label="FAHT", marker=">", color="#E69F00", nanoseconds=3_800, num_groups=2,
                knob="grace_period", knob_values=(200, 100, 50, 25),
                learner=lambda seed, fairness_weight, grace_period: faht(leaf_prediction="nba",
                                                                         grace_period=grace_period))
register_method("faht_majority_leaves", label="FAHT, majority leaves", marker=">", color="#8C6BB1", nanoseconds=4_300,
                field=False, learner=lambda seed, fairness_weight: faht())
register_method("faht_released", label="FAHT, as released", marker=">", color="#7F7F7F", nanoseconds=4_300,
                field=False, learner=lambda seed, fairness_weight: faht("released"))
