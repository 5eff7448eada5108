"""One learner under several that only move its decisions: it learns a stream once, and says the same to all of them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import aranyani_tf as ar


class Shared:
    """A learner, and all that it has said so far, piece by piece.

    >>> from aranyani_tf.baselines.hoeffding import hoeffding_tree
    >>> stream = ar.datasets.load("synthetic", num_rows=100)
    >>> tree = Shared(hoeffding_tree())
    >>> first, second = (Listener(tree).predict_then_learn(stream.features, stream.labels, stream.groups) for _ in "12")
    >>> first is second
    True
    """

    def __init__(self, learner: Any):
        self.learner, self.said = learner, []


class Listener:
    """What one of those above hears: the first to come makes the learner learn, the others hear what it said then.

    All of them must take the same rows in the same pieces.
    """

    def __init__(self, shared: Shared):
        self.shared, self.num_heard = shared, 0

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        said = self.shared.said
        if self.num_heard == len(said):
            said.append(np.asarray(self.shared.learner.predict_then_learn(x, y, a)))
        self.num_heard += 1
        return said[self.num_heard - 1]

    @property
    def state_bytes(self) -> float:
        from harness.field_measures import state_bytes

        return state_bytes(self.shared.learner)


@lru_cache(maxsize=1)
def shared(make: Callable[[int, ar.Stream], Any], seed: int, stream: ar.Stream) -> Shared:
    """The learner of this seed for these rows; the one before it is forgotten."""
    return Shared(make(seed, stream))
