"""FABBOO, boosted Hoeffding trees that move the boundary of the deprived group.

Its tolerance ε is its paper's, for the time that a grid would take; it moves little (docs/peers.md).
"""

from aranyani_tf.baselines.fabboo import Fabboo
from harness.registry import register_method

# Five trees and not the 20 of its paper, which take four times as long; docs/peers.md has both.
register_method("fabboo", label="FABBOO", marker="H", color="#117733", nanoseconds=21_000,
                group_needed="to predict", num_groups=2,
                learner=lambda seed, fairness_weight: Fabboo(num_trees=5, seed=seed))
