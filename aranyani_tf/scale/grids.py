"""A Grove in shards over the cores of a cluster: the same data frame, the same bytes."""

import copy
import itertools
import warnings
from collections.abc import Sequence
from concurrent.futures import as_completed
from typing import Any

import pandas as pd
from tqdm import tqdm

from aranyani_tf.errors import ArgumentError
from aranyani_tf.grove.grove import Grove, Member
from aranyani_tf.scale.executor import RayExecutor
from aranyani_tf.streams.stream import Stream

SHARDS = 2  # for each worker: a last one that is slow holds up less, and a killed one loses less


def fit_grove(grove: Grove, stream: Stream, *, ray: str = "auto", workers: int | None = None, verbose: int = 1,
              **settings: Any) -> pd.DataFrame:
    """`grove.fit(stream, …)` by Ray: members in shards, one core each.

    Members do not depend on each other, so records and trained members are those of `grove.fit`, to the last bit,
    however many workers there are and however often one is killed. The stream is sent to each machine once.

    Args:
        grove: its settings go to other processes, so layers of one's own have to be importable there.
        ray, workers: as of `RayExecutor`.
        settings: those of `Grove.fit`, but for `on_chunk`.

    ```python
    grove = ar.Grove({"num_trees": 3}, fairness_weights=[0.0, 0.1, 1.0], seeds=range(20))
    records = fit_grove(grove, ar.datasets.load("adult"))
    ```
    """
    if not isinstance(stream, Stream):
        raise ArgumentError(f"a grove on Ray learns from a Stream, got {type(stream).__name__}")
    if "on_chunk" in settings:
        raise ArgumentError("on_chunk cannot be called from other processes; leave it out")
    at_once = grove.prepare(stream.num_features)
    with RayExecutor(ray, workers) as pool:
        shards = shards_of(grove.members, at_once, SHARDS * pool.num_workers)
        rows, plan = pool.put(stream), pool.put(untrained(grove))
        waiting = {pool.submit(learned, plan, shard, rows, settings): number for number, shard in enumerate(shards)}
        found: list[Any] = [None] * len(shards)
        try:
            with tqdm(total=len(grove.members), unit="model", disable=not verbose) as bar:
                for future in as_completed(waiting):
                    number = waiting[future]
                    found[number] = future.result()
                    bar.update(len(shards[number]))
        except BaseException:  # nobody needs the others then, nor waits for them
            pool.shutdown(cancel_futures=True)
            raise
    records, norms, trained, diverged, told = zip(*found, strict=True)
    grove.trained = {member: state for shard in trained for member, state in shard.items()}
    grove.diverged = [*itertools.chain(*diverged)]
    grove.gradient_norms = None if norms[0] is None else pd.concat(norms, ignore_index=True)
    if grove.diverged:
        warnings.warn(grove.told_diverged(), stacklevel=2)
    for sentence in dict.fromkeys(itertools.chain(*told)):
        warnings.warn(sentence, stacklevel=2)
    return pd.concat(records, ignore_index=True)


def shards_of(members: Sequence[Member], at_once: int, wanted: int) -> list[list[Member]]:
    """The members in order, in about so many shards, each of whole passes of `at_once` members.

    >>> shards_of([(0.0, seed) for seed in range(5)], at_once=2, wanted=2)
    [[(0.0, 0), (0.0, 1), (0.0, 2), (0.0, 3)], [(0.0, 4)]]
    """
    passes = -(-len(members) // at_once)
    size = -(-passes // min(wanted, passes)) * at_once
    return [list(members[first : first + size]) for first in range(0, len(members), size)]


def untrained(grove: Grove) -> Grove:
    """A copy without what cannot be sent."""
    bare = copy.copy(grove)
    bare.trained, bare.diverged, bare.gradient_norms = {}, [], None
    del bare.loop
    return bare


def learned(plan: Grove, members: list[Member], stream: Stream, settings: dict[str, Any]) -> tuple:
    """A shard: its records, norms, trained members, those that diverged, and what was warned of."""
    grove = copy.copy(plan)
    grove.members = members
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        records = grove.fit(stream, verbose=0, **settings)
    told = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    return records, grove.gradient_norms, grove.trained, grove.diverged, [
        sentence for sentence in told if sentence != grove.told_diverged()]
