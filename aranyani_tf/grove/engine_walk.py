"""The walk over a stream for many forests: each by itself through the engine, side by side on all cores.

The compiled walk does not hold the interpreter's lock, so that threads are enough.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from aranyani_tf.engine.exchange import Exchange
from aranyani_tf.engine.optimizers import ADAM, Optimizer
from aranyani_tf.engine.row_engine import RowEngine, State
from aranyani_tf.engine.targets import TargetUnit, in_unit
from aranyani_tf.grove.grid_walk import pieces_of
from aranyani_tf.grove.replica_adam import Adam


class Trained(NamedTuple):
    """A member as far as it has come."""

    state: State
    unit: TargetUnit


class EngineWalk:
    """Takes forests through a stream, chunk by chunk; the methods are those of `GridWalk`.

    Args:
        model: a built one with the settings of all.
        optimizer: of all.
    """

    def __init__(self, model: Any, optimizer: Adam) -> None:
        self.engine = RowEngine(model.step, model.samples_per_step)
        self.samples_per_step, self.records = model.samples_per_step, model.record_gradients
        self.optimizer = Optimizer(ADAM, float(np.float32(optimizer.learning_rate)), optimizer.beta_1, optimizer.beta_2,
                                   optimizer.epsilon, False)

    def begin(self, models: Sequence[Any], fairness_weights: Sequence[float]) -> None:
        """Members with the weights and running means of built models, one each."""
        self.fairness_weights = fairness_weights
        self.members = [Trained(Exchange(RowEngine(model.step, self.samples_per_step)).read(model.statistics),
                                model.target_unit()) for model in models]

    def walk(self, rows: tuple[np.ndarray, ...], orders: np.ndarray | None, chunk_size: int,
             stops: Sequence[int] = ()) -> Iterator[tuple[np.ndarray, ...]]:
        """Yields (labels, groups, outputs, norms) of every chunk that was learned; each is (row, member, …)."""
        with ThreadPoolExecutor(num_threads()) as pool:
            for start, end in pieces_of(len(rows[0]), chunk_size, self.samples_per_step, stops):
                def learn(index: int, start: int = start, end: int = end) -> tuple[np.ndarray, ...]:
                    here = slice(start, end) if orders is None else orders[start:end, index]
                    return self.learn(index, *(array[here] for array in rows))

                found = list(pool.map(learn, range(len(self.members))))
                labels, groups, outputs, norms = (np.stack(parts, axis=1) for parts in zip(*found, strict=True))
                yield labels, groups, outputs, norms

    def learn(self, index: int, features: np.ndarray, labels: np.ndarray,
              groups: np.ndarray) -> tuple[np.ndarray, ...]:
        """One member's chunk: labels, groups, what it said before, and norms."""
        state, unit = self.members[index]
        learned, units = unit.scaled(labels)
        outputs, norms, _ = self.engine.learn(state, self.optimizer, self.fairness_weights[index], features, learned,
                                              groups, records=self.records)
        return labels, groups, in_unit(outputs, units), norms

    def outputs(self, features: np.ndarray) -> np.ndarray:
        """What the members say about rows, as they are now: (row, member, label)."""
        return np.stack([in_unit(self.engine.predict(state, features), unit.now()) for state, unit in self.members],
                        axis=1)

    def diverged(self, index: int) -> bool:
        """Whether a member's weights are numbers no longer."""
        parts = self.engine.parts(self.members[index].state)
        return not (np.isfinite(parts.matrix).all() and np.isfinite(parts.logits).all())

    def member(self, index: int) -> Trained:
        return self.members[index]

    def put_into(self, model: Any, trained: Trained, optimizer: Adam) -> None:
        """Makes a built model the trained member."""
        model.compile(optimizer.keras(model.learner.variables))
        Exchange(RowEngine(model.step, self.samples_per_step)).write(trained.state, model.statistics, model.optimizer)
        if model.target_scale is not None:
            model.target_scale.moments.assign(trained.unit.moments)


def num_threads() -> int:
    """As many as TensorFlow was told to use, or one for each core."""
    told = tf.config.threading.get_intra_op_parallelism_threads()
    return told or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
