"""FERMI on the same forest, and on its own linear model. It has a measure of its own, so no rule and no notion."""

from aranyani_tf.baselines.fermi import Fermi, linear
from harness.contenders import ADAM_RATES, LEARNING_RATE
from harness.registry import register_method

IGNORED = ("rule", "notion", "chance")
RATE = {"knob": LEARNING_RATE, "knob_values": ADAM_RATES}

register_method("fermi_forest", label="FERMI, same forest", marker="D", color="#000000", model=Fermi, ignores=IGNORED,
                fairness_weights=(0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0), **RATE)  # at 100 it becomes unfair again
register_method("fermi_linear", label="FERMI, linear", marker="X", color="#8C6BB1", model=Fermi,
                settings=lambda stream, height: {"predictor": lambda seed: linear(stream.num_features)},
                ignores=(*IGNORED, "num_trees", "height"),
                fairness_weights=(0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0), **RATE)
