"""River's Hoeffding trees, which know nothing of fairness."""

from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree, hoeffding_tree
from harness.registry import register_method

# Rows between two looks at a split; River's own is 200.
GRACE = {"knob": "grace_period", "knob_values": (200, 100, 50, 25)}

register_method("ht", label="HT", marker="s", color="#D55E00", nanoseconds=2_300, group_needed="never", **GRACE,
                learner=lambda seed, fairness_weight, grace_period: hoeffding_tree(grace_period=grace_period))
register_method("aht", label="AHT", marker="p", color="#0072B2", nanoseconds=3_300, group_needed="never",
                learner=lambda seed, fairness_weight, grace_period: adaptive_hoeffding_tree(
                    seed=seed, grace_period=grace_period), **GRACE)
