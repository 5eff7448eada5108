"""`ParityTarget` on other learners than a forest: an MLP, and logistic regression, both at the output level.

A Hoeffding tree has no loss that a λ could be added to, so that nothing can be steered there.
"""

from functools import lru_cache

import aranyani_tf as ar
from aranyani_tf.baselines.fermi import linear
from aranyani_tf.baselines.mlp import perceptron
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


def steered(predictor):
    """The function that `register_method` wants; what it gave before is done with."""
    def learner(seed, target, notion, stream):
        size = (stream.num_features, stream.num_groups)
        return compiled(predictor, notion, *size).again(model(predictor, seed, target, notion, *size),
                                                        ar.ParityTarget(target))
    return learner


register_method("target_mlp", label="ParityTarget, MLP", marker="h", color="#117733", nanoseconds=600, steered=True,
                notions=NOTIONS, learner=steered("mlp"))
register_method("target_logistic", label="ParityTarget, logistic", marker="X", color="#117733", nanoseconds=500,
                steered=True, notions=NOTIONS, learner=steered("logistic"))
