"""Streams by name."""

from collections.abc import Callable
from typing import Any

from aranyani_tf.arguments import require_new
from aranyani_tf.datasets.acs_employment import acs_employment
from aranyani_tf.datasets.adult import adult
from aranyani_tf.datasets.bank import bank
from aranyani_tf.datasets.celeba import celeba
from aranyani_tf.datasets.census import census
from aranyani_tf.datasets.civil_comments import civil_comments
from aranyani_tf.datasets.compas import compas
from aranyani_tf.datasets.credit import credit
from aranyani_tf.datasets.law import law
from aranyani_tf.datasets.rate_jumps import rate_jumps
from aranyani_tf.datasets.synthetic import synthetic
from aranyani_tf.datasets.wiki_toxicity import wiki_toxicity
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.stream import Stream

LOADERS: dict[str, Callable[..., Stream]] = {loader.__name__: loader for loader in (
    adult, census, compas, celeba, civil_comments, wiki_toxicity, bank, acs_employment, credit, law, synthetic,
    rate_jumps)}


def names() -> list[str]:
    """The datasets that `load` knows.

    >>> names()
    ['acs_employment', 'adult', 'bank', 'celeba', 'census', 'civil_comments', 'compas', 'credit', 'law', 'rate_jumps',
     'synthetic', 'wiki_toxicity']
    """
    return sorted(LOADERS)


def load(name: str, **options: Any) -> Stream:
    """A stream by name; `help(aranyani_tf.datasets.adult)` and so on tell the options and the facts.

    >>> load("adult")
    Stream('adult', 32,561 rows, 14 features, 2 labels, 2 groups)
    >>> load("adult", preprocessing="one_hot", drop_group=True).num_features
    106
    """
    if not isinstance(name, str) or name not in LOADERS:
        raise ArgumentError(f"unknown dataset {name!r}; known are {', '.join(names())}")
    stream = LOADERS[name](**options)
    if not isinstance(stream, Stream):
        raise ArgumentError(f"the loader of the dataset {name!r} must give a Stream, got {type(stream).__name__}")
    return stream


def register_dataset(name: str, loader: Callable[..., Stream]) -> None:
    """Makes a function that gives a `Stream` known to `load`, and so to the experiments and sweeps of `reproduce/`.

    A name can be given to the same function again, for a notebook's cell that is run twice, but not to another.
    The options of `load` go to the function; experiments pass on `preprocessing` and `groups` if it takes them.

    >>> def coins(num_rows=100):
    ...     import numpy as np
    ...     fair = np.random.default_rng(0).integers(0, 2, num_rows)
    ...     return Stream(fair[:, None], labels=fair, groups=fair[::-1], name="coins")
    >>> register_dataset("coins", coins)
    >>> load("coins", num_rows=20)
    Stream('coins', 20 rows, 1 features, 2 labels, 2 groups)
    >>> register_dataset("adult", coins)
    Traceback (most recent call last):
    aranyani_tf.errors.ArgumentError: there is a dataset 'adult' already, of aranyani_tf.datasets.adult; choose...
    >>> _ = LOADERS.pop("coins")
    """
    require_new("dataset", name, LOADERS, loader)
    LOADERS[name] = loader
