"""Running means of several streams as one.

A plain running mean of n values is their sum divided by n, whoever came first. So two models whose weights stood still
while they saw different rows know together what one would know that saw them all.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aranyani_tf.errors import ArgumentError
from aranyani_tf.fairness.constraints import RunningMeans
from aranyani_tf.fairness.statistics import Memory
from aranyani_tf.model.aranyani import Aranyani


def merge_statistics(a: Aranyani, b: Aranyani, *, since: Memory | None = None) -> Memory:
    """The running means of the rows that either model saw: those of one model that saw them all.

    That is exact, up to the rounding of float32, if the weights were the same all the while. If they moved, each mean
    is still the mean of what was recorded, weighted by its counts; but what was recorded belongs to several weights, as
    it does in any stream that learns. With `decay` rows count by their order, and two streams have none: refused.

    Args:
        a, b: models of the same settings; neither is changed.
        since: what both knew before they parted, `model.statistics.read()` of that moment; it counts once.

    Returns:
        A `Memory`, for `model.statistics.write`.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=300)
    >>> def watched(rows):                              # a model that sees rows, and does not move
    ...     model = ar.Aranyani(num_trees=1, height=2, seed=0)
    ...     model.compile(keras.optimizers.SGD(0.0))
    ...     model.predict_then_learn(rows.features, rows.labels, rows.groups)
    ...     return model
    >>> import keras
    >>> merged = merge_statistics(watched(stream[:100]), watched(stream[100:]))
    >>> whole = watched(stream).statistics.read()
    >>> merged.cell_count.tolist() == whole.cell_count.numpy().tolist()
    True
    >>> bool(np.allclose(merged.values, whole.values, atol=1e-6))
    True
    """
    require_mergeable(a, b)
    for model in (a, b):
        model.settle()
    memories = [model.statistics.read() for model in (a, b)]
    shapes = [[np.shape(array) for array in arrays_of(memory)] for memory in memories]
    if shapes[0] != shapes[1]:
        raise ArgumentError("the two models have running means of other shapes, of cells and means "
                            f"{shapes[0]} and {shapes[1]}; merge models of the same settings")
    return merged(memories, since)


def require_mergeable(*models: Any) -> None:
    """Raises unless what the models keep are plain running means."""
    for model in models:
        if not isinstance(model, Aranyani):
            raise ArgumentError(f"statistics are merged of Aranyani models, got {type(model).__name__}")
        if not model.built:
            raise ArgumentError("a model that has seen no row yet has no statistics to merge; build it first")
        if not isinstance(model.statistics.constraint, RunningMeans) or not model.online:
            raise ArgumentError(f"{type(model).__name__} with constraint {model.level!r} and online={model.online} "
                                "keeps something else than running means, which cannot be merged")
        if model.decay is not None:
            raise ArgumentError(f"with decay={model.decay:g} rows count by their order, which rows of two streams do "
                                "not have; only plain means (decay=None) can be merged")
        if model.parity_target is not None:
            raise ArgumentError("a ParityTarget steers by one model's decisions; give the models λ as a number")


def merged(memories: Sequence[Memory], since: Memory | None = None) -> Memory:
    """The same of any number of memories; all arrays of the answer are NumPy's."""
    signs = [1.0] * len(memories)
    if since is not None:  # every memory has it
        memories, signs = [*memories, since], [*signs, 1.0 - len(memories)]
    counts = [np.asarray(memory.cell_count, np.float64) for memory in memories]
    count = sum(sign * each for sign, each in zip(signs, counts, strict=True))

    def mean(parts: Sequence[Any]) -> np.ndarray:
        total = np.zeros(np.shape(parts[0]), np.float64)
        for sign, own, part in zip(signs, counts, parts, strict=True):
            total += along(sign * own, total) * np.asarray(part, np.float64)
        return (total / along(np.where(count > 0, count, 1.0), total)).astype(np.asarray(parts[0]).dtype)

    groups = sum(sign * np.asarray(each.group_count, np.float64) for sign, each in zip(signs, memories, strict=True))
    return Memory(np.asarray(count), np.asarray(groups),
                  tuple(map(mean, zip(*(memory.kept for memory in memories), strict=True))),
                  tuple(map(mean, zip(*(memory.squares for memory in memories), strict=True))))


def along(per_cell: np.ndarray, array: np.ndarray) -> np.ndarray:
    """(cell,) in a shape that multiplies (cell, …)."""
    return per_cell.reshape(-1, *(1,) * (array.ndim - 1))


def arrays_of(memory: Memory) -> list[Any]:
    return [memory.cell_count, memory.group_count, *memory.kept, *memory.squares]
