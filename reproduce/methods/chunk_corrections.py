"""Chunks whose labels are swapped or whose rows are weighed before they are learned, in front of Hoeffding trees."""

from functools import partial

from aranyani_tf.baselines.chunk_corrections import ChunkCorrection
from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree
from harness.registry import register_method


def corrected(correction, seed):
    return ChunkCorrection(partial(adaptive_hoeffding_tree, seed=seed), correction)


register_method("massaging", label="Massaging, AHT", marker="*", color="#882255", nanoseconds=5_300,
                num_groups=2, learner=lambda seed, fairness_weight: corrected("massaging", seed))
register_method("reweighting", label="Reweighting, AHT", marker="X", color="#44AA99", nanoseconds=3_700,
                learner=lambda seed, fairness_weight: corrected("reweighting", seed))
