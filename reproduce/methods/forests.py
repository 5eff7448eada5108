"""Soft oblique forests with the fairness gradient at their nodes (Aranyani), leaves or output."""

from harness.contenders import ADAM_RATES, LEARNING_RATE
from harness.registry import NOTIONS, register_method

# Ranges of λ, here and in the other families, were found by a pilot on Adult with two seeds: from no effect to the
# majority label or beyond.
RATE = {"knob": LEARNING_RATE, "knob_values": ADAM_RATES}
WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)

register_method("aranyani", label="Aranyani", marker="v", color="#009E73", fairness_weights=WEIGHTS,
                notions=NOTIONS, **RATE)
register_method("leaf", label="Leaf", marker="<", color="#A6611A", fairness_weights=WEIGHTS,
                settings=lambda stream, height: {"constraint": "leaf"}, nanoseconds=10, notions=NOTIONS,
                **RATE)
register_method("output", label="Output level", marker="^", color="#56B4E9",
                fairness_weights=(0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0),
                settings=lambda stream, height: {"constraint": "output"}, nanoseconds=6, notions=NOTIONS,
                **RATE)
register_method("leaf_released", label="Leaf, as released", marker="<", color="#7F7F7F", fairness_weights=WEIGHTS,
                settings=lambda stream, height: {"constraint": "summed_output"},  # without a fairness gradient
                nanoseconds=6, field=False)
