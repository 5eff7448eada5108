"""Chunks whose labels are swapped or whose rows are weighed before they are learned, in front of Hoeffding trees.

Their knob is the chunk: the first one is learned as it is, so that one of a thousand rows is all of a short beginning.
"""

from functools import partial

from aranyani_tf.baselines.chunk_corrections import ChunkCorrection
from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree
from harness.registry import register_method


def corrected(correction):
    """The function that `register_method` wants."""
    def learner(seed, fairness_weight, stream, chunk_rows):
        return ChunkCorrection(partial(adaptive_hoeffding_tree, seed=seed), correction, chunk_rows=chunk_rows,
                               num_groups=stream.num_groups)
    return learner


CHUNKS = {"knob": "chunk_rows", "knob_values": (1000, 500, 250, 125)}


register_method("massaging", label="Massaging, AHT", marker="*", color="#882255", nanoseconds=3_500,
                num_groups=2, learner=corrected("massaging"), **CHUNKS)
register_method("reweighting", label="Reweighting, AHT", marker="X", color="#44AA99", nanoseconds=3_200,
                learner=corrected("reweighting"), **CHUNKS)
