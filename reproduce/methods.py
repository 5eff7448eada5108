"""The methods of the figures by name: which class learns, with which settings."""

from collections.abc import Callable
from dataclasses import dataclass

import aranyani_tf as ar
from aranyani_tf.baselines.faht import faht
from aranyani_tf.baselines.fermi import Fermi, linear
from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree, hoeffding_tree
from aranyani_tf.baselines.mlp import perceptron


@dataclass(frozen=True)
class Method:
    """Either a model that a Grove trains, or a function of the seed that makes a learner.

    Args:
        settings: function of (number of features, height), gives settings of the model.
        cost: rough time per sample, for the progress bar; Aranyani's is 1.
    """

    settings: Callable = lambda num_features, height: {}
    model: type = ar.Aranyani
    learner: Callable | None = None
    cost: int = 1


def constrained(level):
    return Method(lambda num_features, height: {"constraint": level}, cost=4)


def mlp(level):
    return Method(lambda num_features, height: {
        "constraint": level,
        "predictor": lambda seed: perceptron(num_features, hidden=2**height - 1, seed=seed)}, cost=2)


def river(learner, cost=80):
    return Method(learner=learner, cost=cost)


METHODS = {
    "aranyani": Method(),
    "leaf": constrained("leaf"),
    "output": constrained("output"),
    "mlp": mlp("output"),
    "leaf_released": constrained("summed_output"),  # without a fairness gradient
    "mlp_released": mlp("summed_output"),
    "fermi_forest": Method(model=Fermi, cost=4),
    "fermi_linear": Method(lambda num_features, height: {"predictor": lambda seed: linear(num_features)}, Fermi),
    "ht": river(lambda seed: hoeffding_tree()),
    "aht": river(lambda seed: adaptive_hoeffding_tree(seed=seed), cost=160),
    "faht": river(lambda seed: faht(leaf_prediction="nba")),
    "faht_majority_leaves": river(lambda seed: faht()),
    "faht_released": river(lambda seed: faht("released")),
}
