"""The paper's MLP baseline: two layers in the place of the forest, with as many hidden units as a tree has nodes."""

from collections.abc import Callable

from aranyani_tf.baselines.mlp import perceptron
from harness.contenders import ADAM_RATES, LEARNING_RATE
from harness.registry import NOTIONS, register_method

WEIGHTS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0)


def constrained(level: str) -> Callable[..., dict]:
    return lambda stream, height: {
        "constraint": level,
        "predictor": lambda seed: perceptron(stream.num_features, hidden=2**height - 1, seed=seed)}


register_method("mlp", label="MLP", marker="h", color="#CC79A7", fairness_weights=WEIGHTS,
                settings=constrained("output"), ignores=("num_trees",), notions=NOTIONS, knob=LEARNING_RATE,
                knob_values=ADAM_RATES)
register_method("mlp_released", label="MLP, as released", marker="h", color="#7F7F7F", fairness_weights=WEIGHTS,
                settings=constrained("summed_output"), ignores=("num_trees",), field=False)
