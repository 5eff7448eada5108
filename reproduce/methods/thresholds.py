"""`GroupThresholds` on learners that know nothing of fairness: an MLP, logistic regression and a Hoeffding tree.

The thresholds change nothing of the learner, so that one run of it serves every target and notion. Their knob is the
learner's.
"""

from functools import lru_cache

import aranyani_tf as ar
from aranyani_tf.baselines.hoeffding import RiverLearner, hoeffding_tree
from aranyani_tf.baselines.mlp import perceptron
from harness.contenders import ADAM_RATES, LEARNING_RATE
from harness.registry import NOTIONS, register_method
from harness.restart import Restart
from harness.shared_learner import Listener, shared


def new_mlp(seed, num_features, num_groups):
    return ar.Aranyani(fairness_weight=0.0, predictor=perceptron(num_features, seed=seed), seed=seed,
                       num_groups=num_groups)


@lru_cache(maxsize=1)
def compiled(num_features, num_groups):
    """A model that every seed begins again with: compiling it takes longer than a run."""
    return Restart(new_mlp(0, num_features, num_groups), num_features)


def mlp(seed, stream, learning_rate):
    size = (stream.num_features, stream.num_groups)
    return compiled(*size).again(new_mlp(seed, *size), 0.0, learning_rate)


def logistic(seed, stream, learning_rate):
    from river.linear_model import LogisticRegression
    from river.optim import SGD

    return RiverLearner(LogisticRegression(optimizer=SGD(learning_rate)))


def tree(seed, stream, grace_period):
    return hoeffding_tree(grace_period=grace_period)


def above(make):
    """The function that `register_method` wants, of one that makes a learner; the knob is the learner's."""
    def learner(seed, target, notion, stream, **knob):
        return ar.GroupThresholds(Listener(shared(make, seed, stream, **knob)), target=target, notion=notion,
                                  num_groups=stream.num_groups)
    return learner


ALL = {"steered": True, "notions": NOTIONS, "group_needed": "to predict"}

register_method("thresholds_mlp", label="GroupThresholds, MLP", marker="h", color="#CC79A7", nanoseconds=60,
                learner=above(mlp), knob=LEARNING_RATE, knob_values=ADAM_RATES, **ALL)
register_method("thresholds_logistic", label="GroupThresholds, logistic", marker="X", color="#8C6BB1",
                nanoseconds=100, learner=above(logistic), knob=LEARNING_RATE, knob_values=(0.01, 0.003, 0.03, 0.1),
                **ALL)
register_method("thresholds_ht", label="GroupThresholds, HT", marker="s", color="#D55E00", nanoseconds=400,
                learner=above(tree), knob="grace_period", knob_values=(200, 100, 50, 25), **ALL)
