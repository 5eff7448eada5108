"""A model for more features than it was built for."""

from typing import Any

import keras
import numpy as np

from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.variables import put, value_of


def widened(model: Aranyani, num_features: int) -> Aranyani:
    """A model of more features that goes on where this one is, whose state it has.

    The new features' split directions are 0, for the caller to set. All else is as if they had been there from the
    first row on, with the value 0: then their gradients, momentums and means are 0, too. So what it says about rows
    in which they are 0 stays the same, to the last bit.

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=50, num_features=3)
    >>> model = ar.Aranyani(seed=0)
    >>> _ = model.predict_then_learn(stream.features, stream.labels, stream.groups)
    >>> wide = widened(model, 5)
    >>> rows = np.pad(stream.features, [(0, 0), (0, 2)])
    >>> bool((wide.predict(rows) == model.predict(stream.features)).all())
    True
    """
    wide = type(model).from_config(model.get_config())
    wide.compile_from_config(model.get_compile_config())
    wide.build_for(num_features)
    for old, new in zip(variables_of(model), variables_of(wide), strict=True):
        put(new, padded(value_of(old), tuple(new.shape), model.num_features))
    wide.progress.load(model.progress.store())
    wide.progress.told, wide.progress.next_look = set(model.progress.told), model.progress.next_look
    return wide


def variables_of(model: Aranyani) -> list[keras.Variable]:
    return [*model.weights, *model.optimizer.variables]


def padded(array: Any, shape: tuple[int, ...], num_features: int) -> np.ndarray:
    """An array with zeros for the features that are new, along the one axis that is longer now."""
    array = np.asarray(array)
    for axis, (old, new) in enumerate(zip(array.shape, shape, strict=True)):
        if old != new:
            # Behind the features; in the optimizer's packing, whose inputs end with the bias, before that.
            zeros = np.zeros((*array.shape[:axis], new - old, *array.shape[axis + 1 :]), array.dtype)
            features, rest = np.split(array, [num_features], axis)
            return np.concatenate([features, zeros, rest], axis)
    return array
