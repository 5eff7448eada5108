"""FABBOO, boosted Hoeffding trees that move the boundary of the deprived group: its λ is the tolerance ε."""

from aranyani_tf.baselines.fabboo import Fabboo
from harness.registry import register_method

# Five trees and not the 20 of its paper, which take four times as long; docs/peers.md has both.
register_method("fabboo", label="FABBOO", marker="H", color="#117733", nanoseconds=60_000,
                fairness_weights=(0.001, 0.02, 0.05, 0.1),
                learner=lambda seed, tolerance: Fabboo(tolerance=tolerance, num_trees=5, seed=seed))
