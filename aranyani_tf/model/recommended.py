"""The settings that did best over all streams of the field, under one name."""

from typing import Any

import keras

from aranyani_tf.control.group_thresholds import GroupThresholds
from aranyani_tf.control.parity_target import ParityTarget
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.streams.stream import Stream

NUM_TREES, HEIGHT, LEARNING_RATE = 8, 4, 5e-3


def recommended(stream: Stream, target: float = 0.05, *, notion: str = "demographic_parity",
                group_decides: bool = False, seed: int | None = None, **settings: Any) -> Aranyani | GroupThresholds:
    """A learner for a stream like this one, that keeps a gap: one recipe for all streams, in O(1) memory.

    Eight trees of height four learn at a rate of 5e-3, with a `ParityTarget` at the output level. The paper's settings
    (three trees, 2e-3, fairness at the nodes) are those of `Aranyani` itself. results/field.md tells how far the recipe
    holds: it was chosen by looking at these streams' demographic parity, the same for all of them.

    Args:
        stream: of which the numbers of labels and groups are taken; nothing is learned from it.
        target: the largest difference between two groups' rates of decisions.
        notion: of which rates.
        group_decides: True where the group may be used to decide: thresholds by group in place of a λ that moves.
        settings: others of `Aranyani`.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=10_000, seed=0)
    >>> model = ar.recommended(stream, target=0.05, seed=0)
    >>> history = model.fit(stream, verbose=0)
    >>> bool(model.so_far()["demographic_parity"] < 0.06)
    True
    """
    weight: float | ParityTarget = 0.0 if group_decides else ParityTarget(target)
    model = Aranyani(stream.num_labels, NUM_TREES, HEIGHT, fairness_weight=weight, notion=notion,
                     num_groups=stream.num_groups, seed=seed, **settings)
    model.compile(optimizer=keras.optimizers.Adam(LEARNING_RATE))
    if not group_decides:
        return model
    return GroupThresholds(model, target=target, notion=notion, num_groups=stream.num_groups)
