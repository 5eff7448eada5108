"""What is told a gap, and not a λ. In their records `fairness_weight` is the target."""

import aranyani_tf as ar
from harness.registry import NOTIONS, TARGETS, register_method


def steered(level, target, seed, notion, stream):
    return ar.Aranyani(fairness_weight=ar.ParityTarget(target), constraint=level, seed=seed, notion=notion,
                       num_groups=groups_of(stream))


def thresholds(learner, target, notion, stream):
    return ar.GroupThresholds(learner, target=target, notion=notion, num_groups=groups_of(stream))


def groups_of(stream):
    return 2 if stream is None else stream.num_groups


def recommended(group_decides):
    """The function that `register_method` wants."""
    def learner(seed, target, notion, stream):
        return ar.recommended(stream, target, notion=notion, group_decides=group_decides, seed=seed)
    return learner


ALL = {"fairness_weights": TARGETS, "steered": True, "notions": NOTIONS}

register_method("target_node", label="ParityTarget, nodes", marker="v", color="#009E73", nanoseconds=400, **ALL,
                learner=lambda seed, target, notion=NOTIONS[0], stream=None: steered("node", target, seed, notion,
                                                                                     stream))
register_method("target_output", label="ParityTarget, output", marker="^", color="#56B4E9", nanoseconds=400, **ALL,
                learner=lambda seed, target, notion=NOTIONS[0], stream=None: steered("output", target, seed, notion,
                                                                                     stream))
register_method("thresholds", label="GroupThresholds", marker="D", color="#CC79A7", nanoseconds=300, **ALL,
                group_needed="to predict",
                learner=lambda seed, target, notion=NOTIONS[0], stream=None: thresholds(
                    ar.Aranyani(fairness_weight=0.0, seed=seed, num_groups=groups_of(stream)), target, notion, stream))
register_method("target_and_thresholds", label="both", marker="o", color="#E69F00", nanoseconds=500, **ALL,
                group_needed="to predict",
                learner=lambda seed, target, notion=NOTIONS[0], stream=None: thresholds(
                    steered("output", target, seed, notion, stream), target, notion, stream))
register_method("recommended", label="recommended", marker="P", color="#0072B2", nanoseconds=600, **ALL,
                learner=recommended(group_decides=False))
register_method("recommended_by_group", label="recommended, by group", marker="P", color="#D55E00", nanoseconds=500,
                group_needed="to predict", **ALL, learner=recommended(group_decides=True))
