"""FEAT and 2FAHT, trees that split for fairness and replace what has grown old; 2FAHT's λ is its trade-off α."""

from aranyani_tf.baselines.feat import feat, flexible_faht
from harness.registry import register_method

register_method("feat", label="FEAT", marker="<", color="#332288", nanoseconds=25_000,
                learner=lambda seed, fairness_weight: feat(seed=seed))
register_method("flexible_faht", label="2FAHT", marker="8", color="#DDCC77", nanoseconds=30_000,
                fairness_weights=(0.0, 1.0, 3.0, 10.0, 30.0),
                learner=lambda seed, trade_off: flexible_faht(trade_off, seed=seed))
