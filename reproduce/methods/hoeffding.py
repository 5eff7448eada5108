"""River's Hoeffding trees, which know nothing of fairness."""

from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree, hoeffding_tree
from harness.registry import register_method

register_method("ht", label="HT", marker="s", color="#D55E00", nanoseconds=3_000, group_needed="never",
                learner=lambda seed, fairness_weight: hoeffding_tree())
register_method("aht", label="AHT", marker="p", color="#0072B2", nanoseconds=3_500, group_needed="never",
                learner=lambda seed, fairness_weight: adaptive_hoeffding_tree(seed=seed))
