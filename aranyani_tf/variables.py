"""Keras's variables as arrays: read and written outside of a program, without what Keras does around it.

A model's state is some twenty variables. Keras takes 40 µs to read or write one, of which the copy is the least.
"""

from typing import Any

import numpy as np
import tensorflow as tf


def value_of(variable: Any) -> np.ndarray:
    """A copy of the variable's value."""
    value = variable.value
    return tf.raw_ops.ReadVariableOp(resource=value.handle, dtype=value.dtype).numpy()


def put(variable: Any, array: Any) -> None:
    """The variable's new value; an array of another shape is refused."""
    value = variable.value
    array = np.array(array, value.dtype.as_numpy_dtype)  # a copy: TensorFlow may keep what it is given
    if array.shape != tuple(value.shape):
        raise ValueError(f"{variable.name} has shape {tuple(value.shape)}, got {array.shape}")
    tf.raw_ops.AssignVariableOp(resource=value.handle, value=array)


def add(variable: Any, array: Any) -> None:
    """Adds to the variable's value."""
    put(variable, value_of(variable) + array)
