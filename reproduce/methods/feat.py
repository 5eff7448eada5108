"""FEAT and 2FAHT, trees that split for fairness and replace what has grown old.

2FAHT's trade-off α is 1, for the time that a grid would take; it does move the gap (docs/peers.md).
"""

from aranyani_tf.baselines.feat import feat, flexible_faht
from harness.registry import register_method

register_method("feat", label="FEAT", marker="<", color="#332288", nanoseconds=7_000, num_groups=2,
                learner=lambda seed, fairness_weight: feat(seed=seed))
register_method("flexible_faht", label="2FAHT", marker="8", color="#DDCC77", nanoseconds=7_500,
                num_groups=2, learner=lambda seed, fairness_weight: flexible_faht(1.0, seed=seed))
