"""One stream that arrives at several sites: each learns its own rows, and every so often all become their mean."""

import contextlib
import functools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.scale.averaging import Learned, averaged, read, require_averageable, write
from aranyani_tf.scale.executor import RayExecutor
from aranyani_tf.streams.stream import Stream


def learn_apart(model: Aranyani, stream: Stream, sites: Any, *, every: int, ray: str | None = None,
                workers: int | None = None) -> np.ndarray:
    """Takes the rows as they come, each at its site; after `every` rows of all the sites become one model again.

    Only arrays travel, no rows: a site needs those of its own alone. Sites that saw no row in a period have no share in
    its mean, so that `every=1` is one central stream, up to rounding. With Ray the sites of a period learn side by
    side; what they say and what becomes of the model is the same to the last bit, also when a worker is killed.

    Args:
        model: an `Aranyani` with plain means and a number as λ. Afterwards it is the last mean; its metrics stay.
        sites: (row,), a site's name or number for each row.
        every: rows of the whole stream in a period; its length or more lets each site learn alone to the end.
        ray, workers: as of `RayExecutor`; None is this process alone.

    Returns:
        What each row's site said about it before it was learned, (row, label).

    >>> import aranyani_tf as ar
    >>> stream = ar.datasets.load("synthetic", num_rows=600)
    >>> model = ar.Aranyani(num_trees=1, height=2, fairness_weight=0.1, seed=0)
    >>> said = learn_apart(model, stream, np.arange(600) % 3, every=100)
    >>> said.shape, int(model.statistics.cell_count.numpy().sum())
    ((600, 2), 600)
    """
    require_whole("every", every, 1)
    sites = np.asarray(sites)
    if sites.shape != (len(stream),):
        raise RowError(f"sites must name one for each of {len(stream)} rows, got an array of shape {sites.shape}")
    model.build_for(stream.num_features)
    require_averageable(model)
    if model.samples_per_step > 1:
        raise ArgumentError(f"samples_per_step={model.samples_per_step}: a period may end within a step; use 1")
    _, codes = np.unique(sites, return_inverse=True)
    said = np.empty((len(stream), model.num_labels), model.compute_dtype)
    state, packed = read(model), as_bytes(model)
    with submitter(ray, workers, packed) as submit:
        for start in range(0, len(stream), every):
            here = np.arange(start, min(start + every, len(stream)))
            places = [here[codes[here] == code] for code in np.unique(codes[here])]
            found = submit(state, [rows_at(stream, place) for place in places])
            for place, (_, outputs) in zip(places, found, strict=True):
                said[place] = outputs
            state = averaged([learned for learned, _ in found], [len(place) for place in places], state.memory)
    write(model, state)
    return said


def rows_at(stream: Stream, place: np.ndarray) -> tuple[np.ndarray, ...]:
    return stream.features[place], stream.labels[place], stream.groups[place]


@contextlib.contextmanager
def submitter(ray: str | None, workers: int | None, packed: bytes) -> Iterator[Callable]:
    """A function of a state and the rows of some sites that gives what each site made of them."""
    if ray is None:
        yield lambda state, rows: [learned_from(packed, state, *each) for each in rows]
        return
    with RayExecutor(ray, workers) as pool:
        shared = pool.put(packed)

        def submit(state: Learned, rows: list) -> list:
            begin = pool.put(state)
            return [future.result() for future in [pool.submit(learned_from, shared, begin, *each) for each in rows]]

        yield submit


def learned_from(packed: bytes, state: Learned, *rows: np.ndarray) -> tuple[Learned, np.ndarray]:
    """A pure function: what a site's model is after its rows, and what it said of them."""
    model = from_bytes(packed)
    write(model, state)
    said = model.predict_then_learn(*rows)
    return read(model), said


def as_bytes(model: Aranyani) -> bytes:
    """The model's `.keras` file."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.keras")
        return (Path(folder) / "model.keras").read_bytes()


@functools.lru_cache(maxsize=1)
def from_bytes(packed: bytes) -> Aranyani:
    """The model of a file's bytes; a process makes it once, and gives it each state in turn."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.keras").write_bytes(packed)
        return keras.saving.load_model(Path(folder) / "model.keras")
