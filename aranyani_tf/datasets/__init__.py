"""Streams by name."""

from aranyani_tf.datasets.acs_employment import acs_employment
from aranyani_tf.datasets.adult import adult
from aranyani_tf.datasets.bank import bank
from aranyani_tf.datasets.celeba import celeba
from aranyani_tf.datasets.census import census
from aranyani_tf.datasets.civil_comments import civil_comments
from aranyani_tf.datasets.compas import compas
from aranyani_tf.datasets.rate_jumps import rate_jumps
from aranyani_tf.datasets.synthetic import synthetic
from aranyani_tf.datasets.wiki_toxicity import wiki_toxicity

LOADERS = {loader.__name__: loader for loader in
           (adult, census, compas, celeba, civil_comments, wiki_toxicity, bank, acs_employment, synthetic, rate_jumps)}


def names():
    """The datasets that `load` knows.

    >>> names()
    ['acs_employment', 'adult', 'bank', 'celeba', 'census', 'civil_comments', 'compas', 'rate_jumps', 'synthetic',
     'wiki_toxicity']
    """
    return sorted(LOADERS)


def load(name, **options):
    """A stream by name; `help(aranyani_tf.datasets.adult)` and so on tell the options and the facts.

    >>> load("adult")
    Stream('adult', 32,561 rows, 14 features, 2 labels, 2 groups)
    >>> load("adult", preprocessing="one_hot", drop_group=True).num_features
    106
    """
    if name not in LOADERS:
        raise ValueError(f"unknown dataset {name!r}; known are {', '.join(names())}")
    return LOADERS[name](**options)
