"""The methods of the figures by name: which class learns, with which settings."""

from collections.abc import Callable
from dataclasses import dataclass

import aranyani_tf as ar
from aranyani_tf.baselines.faht import faht
from aranyani_tf.baselines.fermi import Fermi, linear
from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree, hoeffding_tree
from aranyani_tf.baselines.mlp import perceptron
from aranyani_tf.baselines.reservoir import Reservoir


@dataclass(frozen=True)
class Method:
    """Either a model that a Grove trains, or a function of the seed that makes a learner.

    Args:
        settings: function of (stream, height), gives settings of the model.
        alone: the model is trained by itself, and timed beside a plain Aranyani.
        own_settings: names of settings that a plain Aranyani does not have.
        ignores: names of an experiment's settings that have no effect here.
        nanoseconds: rough time per sample and weight, or per sample and feature of a `learner`: for the progress
            bar, and for the order in which experiments are run.
    """

    settings: Callable = lambda stream, height: {}
    model: type = ar.Aranyani
    learner: Callable | None = None
    alone: bool = False
    own_settings: tuple = ()
    ignores: tuple = ()
    nanoseconds: int = 3


def constrained(level, nanoseconds=6):
    return Method(lambda stream, height: {"constraint": level}, nanoseconds=nanoseconds)


def mlp(level):
    return Method(lambda stream, height: {
        "constraint": level,
        "predictor": lambda seed: perceptron(stream.num_features, hidden=2**height - 1, seed=seed)},
        ignores=("num_trees",))


def river(learner, nanoseconds=16_000):
    return Method(learner=learner, nanoseconds=nanoseconds, ignores=(
        "rule", "fairness_weights", "num_trees", "height", "decay", "forget", "chance", "notion", "update_when",
        "samples_per_step", "held_out", "record_gradients"))


def reservoir(capacity, nanoseconds):
    return Method(lambda stream, height: {"capacity": capacity or len(stream)}, Reservoir, alone=True,
                  own_settings=("capacity",), ignores=("held_out", "record_gradients"), nanoseconds=nanoseconds)


def fermi(settings=lambda stream, height: {}, ignores=()):
    return Method(settings, Fermi, ignores=("rule", "notion", "chance", *ignores))  # it has a measure of its own


METHODS = {
    "aranyani": Method(),
    "leaf": constrained("leaf", nanoseconds=10),
    "output": constrained("output"),
    "mlp": mlp("output"),
    "leaf_released": constrained("summed_output"),  # without a fairness gradient
    "mlp_released": mlp("summed_output"),
    "fermi_forest": fermi(),
    "fermi_linear": fermi(lambda stream, height: {"predictor": lambda seed: linear(stream.num_features)},
                          ignores=("num_trees", "height")),
    "reservoir": reservoir(None, nanoseconds=4_500),  # keeps every sample
    "reservoir_500": reservoir(500, nanoseconds=600),  # of each group
    "ht": river(lambda seed: hoeffding_tree(), nanoseconds=9_000),
    "aht": river(lambda seed: adaptive_hoeffding_tree(seed=seed), nanoseconds=12_000),
    "faht": river(lambda seed: faht(leaf_prediction="nba")),
    "faht_majority_leaves": river(lambda seed: faht()),
    "faht_released": river(lambda seed: faht("released")),
}
