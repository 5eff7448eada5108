"""One learner under several that only move its decisions: it learns a stream once, and says the same to all of them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import aranyani_tf as ar
from aranyani_tf.errors import DivergedError


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
        self.learner, self.said, self.failure = learner, [], None


class Listener:
    """What one of those above hears: the first to come makes the learner learn, the others hear what it said then.

    All of them must take the same rows in the same pieces.
    """

    def __init__(self, shared: Shared):
        self.shared, self.num_heard = shared, 0

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        said = self.shared.said
        if self.num_heard == len(said):
            if self.shared.failure:  # what was compiled may belong to another by now
                raise self.shared.failure
            try:
                outputs = np.asarray(self.shared.learner.predict_then_learn(x, y, a))
                if np.isnan(outputs).any():  # as a learner of River's may say, which does not look
                    raise DivergedError("it has said NaN")
                said.append(outputs)
            except DivergedError as error:
                self.shared.failure = error
                raise
        self.num_heard += 1
        return said[self.num_heard - 1]

    @property
    def state_bytes(self) -> float:
        from harness.field_measures import state_bytes

        return state_bytes(self.shared.learner)


@lru_cache(maxsize=4)  # as many as a knob has values
def shared(make: Callable[..., Any], seed: int, stream: ar.Stream, **knob: Any) -> Shared:
    """The learner of this seed for these rows; those of an earlier seed or stream are soon forgotten."""
    return Shared(make(seed, stream, **knob))


class SharedTree:
    """A tree of River's, and its votes so far."""

    def __init__(self, tree: Any):
        self.tree, self.votes = tree, []


class TreeListener:
    """The same for a tree whose rows, labels and weights are the same for all of those above it."""

    def __init__(self, shared: SharedTree):
        self.shared, self.num_heard, self.leads = shared, 0, False

    def predict_proba_one(self, features: dict) -> dict:
        votes = self.shared.votes
        self.leads = self.num_heard == len(votes)
        if self.leads:
            votes.append(self.shared.tree.predict_proba_one(features))
        self.num_heard += 1
        return votes[self.num_heard - 1]

    def learn_one(self, features: dict, label: int, *, w: float) -> None:
        if self.leads:
            self.shared.tree.learn_one(features, label, w=w)

    @property
    def _raw_memory_usage(self) -> int:
        return self.shared.tree._raw_memory_usage
