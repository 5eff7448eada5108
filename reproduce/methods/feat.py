"""FEAT and 2FAHT, trees that split for fairness and replace what has grown old.

2FAHT's knob is its trade-off α, which moves the gap (docs/peers.md); FEAT has none of its own.
"""

from aranyani_tf.baselines.feat import feat, flexible_faht
from harness.registry import register_method

register_method("feat", label="FEAT", marker="<", color="#332288", nanoseconds=9_500, num_groups=2,
                knob="grace_period", knob_values=(200, 100, 50, 25),
                learner=lambda seed, fairness_weight, grace_period: feat(seed=seed, grace_period=grace_period))
register_method("flexible_faht", label="2FAHT", marker="8", color="#DDCC77", nanoseconds=12_000,
                num_groups=2, knob="trade_off", knob_values=(1.0, 0.0, 5.0, 20.0),
                learner=lambda seed, fairness_weight, trade_off: flexible_faht(trade_off, seed=seed))
