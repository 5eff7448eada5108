"""One model of several that learned apart: the mean of weights and optimizer moments, and merged statistics."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.statistics import Memory
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.scale.merging import arrays_of, merged, require_mergeable
from aranyani_tf.variables import put, value_of


class Learned(NamedTuple):
    """All that learning moves, as arrays: it can be sent, and put into any model of the same settings."""

    weights: list[np.ndarray]
    optimizer: list[np.ndarray]
    memory: Memory  # in the layout of the statistics' weights, which needs no packing


def average(models: Sequence[Aranyani], rows: Sequence[float] | None = None, *, since: Memory | None = None) -> None:
    """Makes all models their mean, from which each may go on with its own rows.

    Weights and moments of the optimizer become means, of whole numbers (its steps) the largest counts, and the
    statistics are merged as `merge_statistics` does it. λ, metrics and settings stay each model's own.

    Args:
        models: of the same settings, built and compiled.
        rows: how many each has learned since they were last alike: its share in the mean. Equal shares if None.
        since: what all knew before they parted, `model.statistics.read()` of that moment; None if there was none.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=300)
    >>> north, south = (ar.Aranyani(num_trees=1, height=2, seed=0) for _ in range(2))
    >>> for model, own in ((north, stream[:100]), (south, stream[100:])):
    ...     said = model.predict_then_learn(own.features, own.labels, own.groups)
    >>> average([north, south], rows=[100, 200])
    >>> all((a == b).all() for a, b in zip(north.get_weights(), south.get_weights()))
    True
    """
    models = list(models)
    require_averageable(*models)
    for model in models:
        model.require_own_state()
    if since is not None:
        since = since._replace(kept=tuple(models[0].statistics.constraint.unpack(since.kept)))
    mean = averaged([read(model) for model in models], [1.0] * len(models) if rows is None else list(rows), since)
    for model in models:
        write(model, mean)


def require_averageable(*models: Aranyani) -> None:
    """Raises unless the models can become one by their arrays alone."""
    if not models:
        raise ArgumentError("there is no model to average")
    require_mergeable(*models)
    for model in models:
        model.make_sure_it_is_compiled()
        if model.target_scale is not None:
            raise ArgumentError("a regression that scales its target has weights in a unit of its own; models to be "
                                "averaged need scale_target=False")
    shapes = {tuple(np.shape(array) for array in read(model).weights) for model in models}
    if len(shapes) > 1:
        raise ArgumentError("models of different shapes cannot be averaged; give all the same settings and features")


def read(model: Aranyani) -> Learned:
    statistics, weights = model.statistics, own_weights(model)
    squares = (value_of(statistics.square_mean),) if statistics.keep_squares else ()
    return Learned([value_of(weight) for weight in weights],
                   [value_of(variable) for variable in model.optimizer.variables],
                   Memory(value_of(statistics.cell_count), value_of(statistics.group_count),
                          tuple(map(value_of, statistics.means)), squares))


def write(model: Aranyani, learned: Learned) -> None:
    statistics, memory = model.statistics, learned.memory
    variables = [*own_weights(model), *model.optimizer.variables, statistics.cell_count, statistics.group_count,
                 *statistics.means, *([statistics.square_mean] if statistics.keep_squares else [])]
    arrays = [*learned.weights, *learned.optimizer, *arrays_of(memory)]
    with model.state:
        for variable, array in zip(variables, arrays, strict=True):
            put(variable, array)


def own_weights(model: Aranyani) -> list[Any]:
    """The model's weights but for its statistics."""
    statistics = {id(weight) for weight in model.statistics.weights}
    return [weight for weight in model.weights if id(weight) not in statistics]


def averaged(states: Sequence[Learned], rows: Sequence[float], since: Memory | None = None) -> Learned:
    """The mean of states, each with its share of the rows."""
    if len(rows) != len(states) or min(rows) < 0 or not np.isfinite(sum(rows)) or sum(rows) <= 0:
        raise ArgumentError(f"rows must be a number of at least 0 for each of {len(states)} models, and not all 0; got "
                            f"{list(rows)}")
    shares = np.asarray(rows, np.float64) / sum(rows)

    def mean(parts: tuple[np.ndarray, ...]) -> np.ndarray:
        if not np.issubdtype(parts[0].dtype, np.floating):
            return np.max(parts, axis=0)  # steps taken: Adam's bias is that of the most
        return np.asarray(sum(share * part for share, part in zip(shares, parts, strict=True)), parts[0].dtype)

    weights, optimizers, memories = zip(*states, strict=True)
    return Learned([mean(parts) for parts in zip(*weights, strict=True)],
                   [mean(parts) for parts in zip(*optimizers, strict=True)], merged(memories, since))
