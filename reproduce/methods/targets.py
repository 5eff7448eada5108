"""What is told a gap, and not a λ. In their records `fairness_weight` is the target."""

import keras

import aranyani_tf as ar
from harness.contenders import ADAM_RATES, LEARNING_RATE
from harness.registry import NOTIONS, TARGETS, register_method


def forest(weight, seed, notion, stream, rate, **settings):
    model = ar.Aranyani(fairness_weight=weight, seed=seed, notion=notion, num_groups=groups_of(stream), **settings)
    model.compile(optimizer=keras.optimizers.Adam(rate))
    return model


def groups_of(stream):
    return 2 if stream is None else stream.num_groups


def steered(level):
    """The function that `register_method` wants."""
    def learner(seed, target, notion=NOTIONS[0], stream=None, learning_rate=ADAM_RATES[0]):
        return forest(ar.ParityTarget(target), seed, notion, stream, learning_rate, constraint=level)
    return learner


def thresholds(by_weight):
    """The same with thresholds above a forest, whose λ is 0 or moves too."""
    def learner(seed, target, notion=NOTIONS[0], stream=None, learning_rate=ADAM_RATES[0]):
        model = (steered("output")(seed, target, notion, stream, learning_rate) if by_weight else
                 forest(0.0, seed, NOTIONS[0], stream, learning_rate))
        return ar.GroupThresholds(model, target=target, notion=notion, num_groups=groups_of(stream))
    return learner


ALL = {"fairness_weights": TARGETS, "steered": True, "notions": NOTIONS, "knob": LEARNING_RATE,
       "knob_values": ADAM_RATES}

register_method("target_node", label="ParityTarget, nodes", marker="v", color="#009E73", nanoseconds=350, **ALL,
                learner=steered("node"))
register_method("target_output", label="ParityTarget, output", marker="^", color="#56B4E9", nanoseconds=350, **ALL,
                learner=steered("output"))
register_method("thresholds", label="GroupThresholds", marker="D", color="#CC79A7", nanoseconds=250, **ALL,
                group_needed="to predict", learner=thresholds(by_weight=False))
register_method("target_and_thresholds", label="both", marker="o", color="#E69F00", nanoseconds=380, **ALL,
                group_needed="to predict", learner=thresholds(by_weight=True))
