"""Streams by name."""

from aranyani_tf.datasets.synthetic import synthetic

LOADERS = {"synthetic": synthetic}


def names():
    """The datasets that `load` knows.

    >>> names()
    ['synthetic']
    """
    return sorted(LOADERS)


def load(name, **options):
    """A stream by name; the options are those of the dataset's own function."""
    if name not in LOADERS:
        raise ValueError(f"unknown dataset {name!r}; known are {', '.join(names())}")
    return LOADERS[name](**options)
