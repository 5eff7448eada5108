"""Rows that are learned while λ moves: cut where it does."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from aranyani_tf.control.steering import Steering
from aranyani_tf.engine.walk import NO_OFFSETS


def pieces(steering: Steering | None, num_rows: int, samples_per_step: int) -> Iterator[slice]:
    """The stretches of rows with one λ, in whole steps; whoever takes one tells the steering before the next."""
    start = 0
    while start < num_rows:
        room = num_rows if steering is None else -(-steering.room // samples_per_step) * samples_per_step
        yield slice(start, start := min(start + room, num_rows))


def learn_steered(exchange: Any, state: Any, optimizer: Any, fairness_weight: float, steering: Steering | None,
                  features: np.ndarray, labels: np.ndarray, groups: np.ndarray, row_weights: np.ndarray, *,
                  records: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """`RowEngine.learn`, stretch by stretch; λ and the gaps' offsets are the steering's where there is one.

    Args:
        row_weights: (row,), or empty.
    """
    engine, outputs, norms, penalty = exchange.engine, [], [], 0.0
    for here in pieces(steering, len(labels), engine.settings.samples_per_step):
        weight, offsets = (fairness_weight, NO_OFFSETS) if steering is None else (steering.weight, steering.offsets)
        said, steps, penalty = engine.learn(state, optimizer, weight, features[here], labels[here], groups[here],
                                            row_weights[here], records=records, offsets=exchange.offsets(offsets))
        outputs.append(said)
        norms.append(steps)
        if steering is not None:
            steering.take(labels[here], groups[here], said, lambda: exchange.output_shares(state))
    if len(outputs) == 1:
        return outputs[0], norms[0], penalty
    if not outputs:  # no rows: the penalty as it stands
        return engine.learn(state, optimizer, fairness_weight, features, labels, groups, records=records)
    return np.concatenate(outputs), np.concatenate(norms), penalty
