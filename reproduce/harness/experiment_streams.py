"""The streams of the experiments: by name, thinned where one group is to be small."""

import quiet  # noqa: F401

import inspect
import os
from functools import cache
from pathlib import Path

import numpy as np

import aranyani_tf as ar
from aranyani_tf.embeddings.cache import cache_folder
from aranyani_tf.errors import ArgumentError
from harness.registry import load_all

CELEBA_ROWS = 202_599


def load(dataset: str, preprocessing: str = "released", groups: str | None = None,
         drop_group: bool = False) -> ar.Stream:
    """`ar.datasets.load` with those of the options that the dataset has; the others must be the default."""
    load_all()  # it may be an extension's
    takes = inspect.signature(ar.datasets.LOADERS[dataset]).parameters
    options = {}
    if "preprocessing" in takes:
        options["preprocessing"] = preprocessing
    elif preprocessing != "released":
        raise ArgumentError(f"{dataset} has only one preprocessing, its own; got {preprocessing!r}")
    if groups is not None:
        if "groups" not in takes:
            raise ArgumentError(f"{dataset} has only one grouping, its own; got groups={groups!r}")
        options["groups"] = groups
    if drop_group:
        if "drop_group" not in takes:
            raise ArgumentError(f"{dataset} does not have its group among the features; leave drop_group out")
        options["drop_group"] = True
    if "embeddings" in takes:  # CELEBA=FILE in the environment names another place than the cache
        options["embeddings"] = Path(os.environ.get(dataset.upper()) or cache_folder(dataset))
    return loaded(dataset, **options)


@cache
def loaded(dataset: str, **options) -> ar.Stream:
    """A stream once for all experiments, by all that it depends on."""
    return ar.datasets.load(dataset, **options)


def thinned(stream: ar.Stream, share: float, seed: int = 0) -> ar.Stream:
    """The stream in which the smallest group makes up `share` of the rows: others of its rows are dropped at random.

    The rows that stay keep their order, and the same seed drops the same rows.
    """
    counts = np.bincount(stream.groups[stream.groups >= 0], minlength=stream.num_groups)
    smallest = int(np.argmin(np.where(counts > 0, counts, len(stream) + 1)))
    now = counts[smallest] / len(stream)
    if not 0 < share <= now:
        raise ArgumentError(f"share must be above 0 and at most {now:.4g}, which the smallest group of {stream.name} "
                            f"has now; got {share!r}")
    own = np.flatnonzero(stream.groups == smallest)
    wanted = max(round(share / (1 - share) * (len(stream) - len(own))), 1)
    kept = np.ones(len(stream), bool)
    kept[np.random.default_rng(seed).choice(own, len(own) - wanted, replace=False)] = False
    return stream[kept]


def stands_in_for(dataset: str, stream: ar.Stream) -> str | None:
    """The paper's dataset in whose place this one is, or None if it is the paper's own."""
    if dataset == "wiki_toxicity":
        return "civil_comments"
    return "celeba" if dataset == "celeba" and len(stream) != CELEBA_ROWS else None
