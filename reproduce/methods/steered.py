"""`ParityTarget` on other learners than a forest: an MLP, and logistic regression, both at the output level.

A Hoeffding tree has no loss that a λ could be added to, so that nothing can be steered there.
"""

from functools import lru_cache

import aranyani_tf as ar
from aranyani_tf.baselines.fermi import linear
from aranyani_tf.baselines.mlp import perceptron
from harness.contenders import ADAM_RATES, LEARNING_RATE
from harness.registry import NOTIONS, register_method
from harness.restart import Restart


def model(predictor, seed, target, notion, num_features, num_groups):
    made = perceptron(num_features, seed=seed) if predictor == "mlp" else linear(num_features)
    return ar.Aranyani(fairness_weight=ar.ParityTarget(target), predictor=made, notion=notion, num_groups=num_groups,
                       seed=seed)


@lru_cache(maxsize=2)  # one a notion
def compiled(predictor, notion, num_features, num_groups):
    """A model that every seed and target begins again with: compiling it takes longer than a run."""
    return Restart(model(predictor, 0, 0.05, notion, num_features, num_groups), num_features)


@lru_cache(maxsize=2)  # one a notion
def untrained(predictor, seed, notion, num_features, num_groups):
    """What every target and learning rate of a seed begins with; it never learns itself."""
    return model(predictor, seed, 0.05, notion, num_features, num_groups)


def steered(predictor):
    """The function that `register_method` wants; what it gave before is done with."""
    def learner(seed, target, notion, stream, learning_rate):
        size = (stream.num_features, stream.num_groups)
        return compiled(predictor, notion, *size).again(untrained(predictor, seed, notion, *size),
                                                        ar.ParityTarget(target), learning_rate)
    return learner


ALL = {"steered": True, "notions": NOTIONS, "knob": LEARNING_RATE, "knob_values": ADAM_RATES}

register_method("target_mlp", label="ParityTarget, MLP", marker="h", color="#117733", nanoseconds=900,
                learner=steered("mlp"), **ALL)
register_method("target_logistic", label="ParityTarget, logistic", marker="X", color="#117733", nanoseconds=450,
                learner=steered("logistic"), **ALL)
