"""The streams of the field, and the orders in which all methods meet them."""

import quiet  # noqa: F401

from typing import NamedTuple

import numpy as np

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError
from harness.experiment_streams import load
from harness.registry import load_all

MOST_ROWS = 10_000  # for all methods alike: what an hour on two cores allows
LONG = 10_000  # rows; a shorter stream is taken as it is
BLOCK = 1_000  # rows among which an order differs from the file's: time stays time


class FieldStream(NamedTuple):
    """A stream by all that names it."""

    title: str
    dataset: str
    preprocessing: str
    groups: str | None = None
    drop_group: bool = False

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """What the records know it by, without the title."""
        return self.dataset, self.preprocessing, self.groups or "", self.drop_group


# In the order of the tables. One whose dataset is not registered, or cannot be had, is left out, and that is told.
STREAMS = (
    FieldStream("Adult, one-hot", "adult", "one_hot"), FieldStream("Adult, as released", "adult", "released"),
    FieldStream("Adult without the group's column", "adult", "one_hot", drop_group=True),
    FieldStream("Census", "census", "released"), FieldStream("COMPAS", "compas", "standardized"),
    FieldStream("Bank by date", "bank", "one_hot"), FieldStream("ACS by sex", "acs_employment", "one_hot", "sex"),
    FieldStream("ACS by disability", "acs_employment", "one_hot", "disability"),
    FieldStream("ACS by race", "acs_employment", "one_hot", "race"), FieldStream("Credit", "credit", "one_hot"),
    FieldStream("Law school", "law", "one_hot"))


def here(streams: tuple[FieldStream, ...] = STREAMS) -> dict[FieldStream, str | None]:
    """Each stream with None, or with the reason why it is left out."""
    load_all()
    found: dict[FieldStream, str | None] = {}
    for each in streams:
        found[each] = None
        if each.dataset not in ar.datasets.names():
            found[each] = "there is no such dataset"
            continue
        try:
            load(each.dataset, each.preprocessing, each.groups, each.drop_group)
        except OSError as error:  # not on this machine, and not to be fetched
            found[each] = str(error).split("\n")[0]
    return found


def chosen(names: list[str] | None) -> tuple[FieldStream, ...]:
    """The streams of some datasets; one that is not in the list is taken as it comes."""
    if not names:
        return STREAMS
    load_all()
    found: list[FieldStream] = []
    for name in names:
        own = [each for each in STREAMS if each.dataset == name]
        if not own and name not in ar.datasets.names():
            raise ArgumentError(f"unknown dataset {name!r}; known are {', '.join(ar.datasets.names())}")
        found += own or [FieldStream(name, name, "released")]
    return tuple(found)


def every_kth(stream: ar.Stream, most: int, long: int) -> ar.Stream:
    """A stream of more than `long` rows by every k-th of them, in order, so that at most `most` are left."""
    return stream if len(stream) <= long else stream[:: -(-len(stream) // most)]


def local_order(num_rows: int, seed: int, block: int = BLOCK) -> np.ndarray:
    """Row numbers, shuffled within blocks: no row moves further than a block.

    >>> order = local_order(10, seed=0, block=5)
    >>> sorted(order[:5].tolist()), sorted(order[5:].tolist())
    ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9])
    """
    random = np.random.default_rng(seed)
    starts = range(0, num_rows, block)
    return np.concatenate([start + random.permutation(min(block, num_rows - start)) for start in starts])
