"""One run of `fit` of a given shape, for `make cost` and `aranyani cost --calibrate`: its CPU time."""

import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from aranyani_tf import datasets
from aranyani_tf.command.cost_model import Job
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.streams.stream import Stream

DRAWN = 1_000_000  # random numbers, at most; a longer stream has the same rows again


def on_one_thread() -> None:
    """TensorFlow's, as far as it has not begun; it keeps others busy with waiting, which counts as CPU time."""
    for choose in (tf.config.threading.set_intra_op_parallelism_threads,
                   tf.config.threading.set_inter_op_parallelism_threads):
        try:
            choose(1)
        except RuntimeError:  # it has begun
            return


def one_fit(job: Job) -> Callable[[], float]:
    """Makes a model and rows of made-up numbers; gives a function that learns them, and tells its CPU seconds.

    The model has learned one chunk by then, so that everything is compiled.
    """
    some = datasets.synthetic(num_rows=max(min(job.rows, DRAWN // job.features), 1), num_features=job.features,
                              num_groups=job.groups)
    rows = Stream(np.resize(some.features, (job.rows, job.features)), np.resize(some.labels, job.rows),
                  np.resize(some.groups, job.rows))
    model = Aranyani(num_trees=job.trees, height=job.height, num_groups=job.groups, constraint=job.level,
                     fairness_weight=0.1, seed=0)
    model.compile(engine=job.engine)
    model.fit(rows[: job.chunk].chunks(job.chunk), verbose=0)

    def seconds() -> float:
        begin = time.process_time()
        model.fit(rows.chunks(job.chunk), verbose=0)
        return time.process_time() - begin

    return seconds
