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
        cost: rough time per sample, for the progress bar; Aranyani's is 1.
    """

    settings: Callable = lambda stream, height: {}
    model: type = ar.Aranyani
    learner: Callable | None = None
    alone: bool = False
    own_settings: tuple = ()
    cost: int = 1


def constrained(level, cost=2):
    return Method(lambda stream, height: {"constraint": level}, cost=cost)


def mlp(level):
    return Method(lambda stream, height: {
        "constraint": level,
        "predictor": lambda seed: perceptron(stream.num_features, hidden=2**height - 1, seed=seed)}, cost=2)


def river(learner, cost=80):
    return Method(learner=learner, cost=cost)


def reservoir(capacity, cost):
    return Method(lambda stream, height: {"capacity": capacity or len(stream)}, Reservoir, alone=True,
                  own_settings=("capacity",), cost=cost)


METHODS = {
    "aranyani": Method(),
    "leaf": constrained("leaf", cost=4),
    "output": constrained("output"),
    "mlp": mlp("output"),
    "leaf_released": constrained("summed_output"),  # without a fairness gradient
    "mlp_released": mlp("summed_output"),
    "fermi_forest": Method(model=Fermi, cost=2),
    "fermi_linear": Method(lambda stream, height: {"predictor": lambda seed: linear(stream.num_features)}, Fermi),
    "reservoir": reservoir(None, cost=700),  # keeps every sample
    "reservoir_500": reservoir(500, cost=40),  # of each group
    "ht": river(lambda seed: hoeffding_tree()),
    "aht": river(lambda seed: adaptive_hoeffding_tree(seed=seed), cost=160),
    "faht": river(lambda seed: faht(leaf_prediction="nba")),
    "faht_majority_leaves": river(lambda seed: faht()),
    "faht_released": river(lambda seed: faht("released")),
}
