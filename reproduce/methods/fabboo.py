"""FABBOO, boosted Hoeffding trees that move the boundary of the deprived group.

Its knob is the tolerance ε, below which the boundary rests. The trees learn by labels and by each other, whatever the
boundary: so they learn a stream once, and every ε and notion hears their votes. Of equalized odds it knows the half:
equal opportunity.
"""

from functools import lru_cache

from aranyani_tf.baselines.fabboo import Fabboo
from harness.registry import NOTIONS, register_method
from harness.shared_learner import SharedTree, TreeListener


@lru_cache(maxsize=2)  # the first rows of a stream, and all of them
def shared_trees(seed, stream):
    # Five trees and not the 20 of its paper, which take four times as long; docs/peers.md has both.
    return [SharedTree(tree) for tree in Fabboo(num_trees=5, seed=seed).trees]


def fabboo(seed, fairness_weight, notion, stream, tolerance):
    told = "equal_opportunity" if notion == "equalized_odds" else notion
    learner = Fabboo(told, tolerance=tolerance, num_trees=1, seed=seed)
    learner.trees = [TreeListener(tree) for tree in shared_trees(seed, stream)]
    return learner


register_method("fabboo", label="FABBOO", marker="H", color="#117733", nanoseconds=13_000,
                group_needed="to predict", num_groups=2, notions=NOTIONS, knob="tolerance",
                knob_values=(0.001, 0.02, 0.05, 0.1), learner=fabboo)
