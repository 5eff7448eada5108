"""Stored samples in the place of running means: all of them, or 500 of each group."""

from aranyani_tf.baselines.reservoir import Reservoir
from harness.registry import register_method

WEIGHTS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # exact gaps are soon within δ, where the penalty is weak
BOTH = {"model": Reservoir, "alone": True, "own_settings": ("capacity",), "ignores": ("held_out", "record_gradients"),
        "field": False}  # milliseconds a row: they are there to show what running means save

register_method("reservoir", label="Reservoir, all samples", marker="P", color="#000000", fairness_weights=WEIGHTS[::2],
                settings=lambda stream, height: {"capacity": len(stream)}, nanoseconds=4_500, **BOTH)
register_method("reservoir_500", label="Reservoir, 500 a group", marker="d", color="#D55E00", fairness_weights=WEIGHTS,
                settings=lambda stream, height: {"capacity": 500}, nanoseconds=600, **BOTH)
