"""Features, labels and groups that are not what they should be, made of some that are."""

from random import Random
from typing import Any

import numpy as np
import pandas as pd

from trials.fuzz_values import HUGE, NUMBERS, odd, told

WIDTH = 3
DTYPES = ("bool", "complex64", "object", "str", "float16", "longdouble", "datetime64[s]", "timedelta64[s]", "int8",
          "uint64", "float64", ">f4", ">i8", "S3", "int16")


def rows(num_rows: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some that are right: (row, feature), labels and groups (row,)."""
    numbers = np.random.default_rng(seed)
    return (numbers.normal(size=(num_rows, WIDTH)).astype("float32"), np.arange(num_rows) % 2,
            np.arange(num_rows) // 2 % 2)


def mutated(random: Random) -> tuple[str, list[Any], str]:
    """What was done; features, labels and groups; and where, in words."""
    found: list[Any] = [*rows(random.choice((1, 2, 12)), random.randrange(9))]
    name = random.choice(tuple(MUTATIONS))
    which = random.randrange(3)
    found[which] = MUTATIONS[name](random, found[which])
    return name, found, f"{name} in {('features', 'labels', 'groups')[which]}: {told(found[which])}"


def with_number(random: Random, array: np.ndarray) -> Any:
    """One value is another number; as a list, where no array can hold it."""
    number, place = random.choice(NUMBERS), random.randrange(array.size)
    flat = array.reshape(-1).tolist()
    flat[place] = number
    as_list = np.array(flat, object).reshape(array.shape).tolist()
    if abs(number) == HUGE or random.random() < 0.3:
        return as_list
    with np.errstate(all="ignore"):
        return np.array(as_list, "float64") if not isinstance(number, int) else np.array(flat).reshape(array.shape)


def with_object(random: Random, array: np.ndarray) -> Any:
    """One value is something else."""
    objects = np.empty(array.size, object)
    objects[:] = array.reshape(-1).tolist()
    objects[random.randrange(array.size)] = odd(random)
    objects = objects.reshape(array.shape)
    return objects.tolist() if random.random() < 0.5 else objects


def of_type(random: Random, array: np.ndarray) -> Any:
    return array.astype(random.choice(DTYPES), casting="unsafe")


def of_shape(random: Random, array: np.ndarray) -> Any:
    return random.choice((
        lambda: array[None], lambda: array[..., None], lambda: array.reshape(-1), lambda: array[:0], lambda: array.T,
        lambda: array[..., :0], lambda: np.array(array.flat[0]), lambda: array.flat[0], lambda: array[1:],
        lambda: np.concatenate([array, array[:1]]), lambda: array[0], lambda: np.concatenate([array, array], -1)))()


def masked(random: Random, array: np.ndarray) -> Any:
    mask = np.zeros(array.shape, bool)
    if random.random() < 0.7:
        mask.flat[random.randrange(array.size)] = True
    return np.ma.masked_array(array, mask)


def in_another_container(random: Random, array: np.ndarray) -> Any:
    import scipy.sparse
    import tensorflow as tf

    return random.choice((
        lambda: array.tolist(), lambda: tuple(map(tuple, array)) if array.ndim == 2 else tuple(array),
        lambda: pd.DataFrame(array), lambda: pd.Series(list(array)),
        lambda: scipy.sparse.csr_matrix(np.atleast_2d(array)), lambda: tf.constant(array), lambda: iter(array),
        lambda: {"features": array}, lambda: array.tobytes(),
        lambda: str(array), lambda: memoryview(array), lambda: np.asmatrix(array), lambda: np.asfortranarray(array),
        lambda: array[::-1], lambda: pd.arrays.IntegerArray(np.arange(len(array)), np.arange(len(array)) == 0),
        lambda: pd.Categorical(array.reshape(-1)), lambda: array.view([("x", array.dtype)]), lambda: tf.ragged.constant(
            [[1.0], [1.0, 2.0]]), lambda: range(len(array)), lambda: np.broadcast_to(array[:1], array.shape)))()


def ragged(random: Random, array: np.ndarray) -> Any:
    nested = array.tolist()
    place = random.randrange(len(nested))
    nested[place] = random.choice(([], [1.0], [1.0] * 9, [[1.0]], None, 1.0, "a"))
    return nested


def nothing_like_it(random: Random, array: np.ndarray) -> Any:
    return odd(random)


def as_it_was(random: Random, array: np.ndarray) -> Any:
    return array


MUTATIONS = {"another number": with_number, "another object": with_object, "another type": of_type,
             "another shape": of_shape, "masked": masked, "another container": in_another_container, "ragged": ragged,
             "nothing like it": nothing_like_it, "as it was": as_it_was}
