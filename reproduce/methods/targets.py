"""What is told a gap, and not a λ. In their records `fairness_weight` is the target."""

import aranyani_tf as ar
from harness.registry import register_method

TARGETS = (0.1, 0.05, 0.02)


def steered(level, target, seed):
    return ar.Aranyani(fairness_weight=ar.ParityTarget(target), constraint=level, seed=seed)


register_method("target_node", label="ParityTarget, nodes", marker="v", color="#009E73", fairness_weights=TARGETS,
                nanoseconds=400, learner=lambda seed, target: steered("node", target, seed))
register_method("target_output", label="ParityTarget, output", marker="^", color="#56B4E9", fairness_weights=TARGETS,
                nanoseconds=400, learner=lambda seed, target: steered("output", target, seed))
register_method("thresholds", label="GroupThresholds", marker="D", color="#CC79A7", fairness_weights=TARGETS,
                nanoseconds=300, learner=lambda seed, target: ar.GroupThresholds(
                    ar.Aranyani(fairness_weight=0.0, seed=seed), target=target))
register_method("target_and_thresholds", label="both", marker="o", color="#E69F00", fairness_weights=TARGETS,
                nanoseconds=500, learner=lambda seed, target: ar.GroupThresholds(
                    steered("output", target, seed), target=target))
