"""Rows for models of any kind, and all that such a model has learned."""

import numpy as np

SMALL = {"num_trees": 2, "height": 3, "seed": 0}


def rows(num_rows=60, num_features=4, *, num_labels=2, num_groups=2, missing=0.0, seed=0):
    """Features that know something of the labels and of the groups; some labels and groups are missing if told so."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, num_groups, num_rows)
    features = random.normal(size=(num_rows, num_features)).astype("float32") + 0.5 * groups[:, None].astype("float32")
    scores = features @ random.normal(size=(num_features, max(num_labels, 2))) + random.normal(size=(num_rows, 1))
    labels = 30 + 7 * scores[:, 0].astype("float32") if num_labels == 1 else scores.argmax(1)
    hidden_labels, hidden_groups = random.random((2, num_rows)) < missing
    return (features, np.where(hidden_labels, labels.dtype.type(np.nan if num_labels == 1 else -1), labels),
            np.where(hidden_groups, -1, groups))


def learned(model):
    """Copies of everything that learning moves: weights, statistics, the target's scale, the optimizer's variables."""
    return [np.array(array) for array in (*model.get_weights(), *(v.numpy() for v in model.optimizer.variables))]


def same(ones, others):
    """Whether two such lists are the same to the bit."""
    return len(ones) == len(others) and all(
        one.dtype == other.dtype and np.array_equal(one, other) for one, other in zip(ones, others, strict=True))


def pieces(arrays, size):
    """The rows, cut into stretches of this size."""
    for start in range(0, len(arrays[0]), size):
        yield tuple(array[start : start + size] for array in arrays)
