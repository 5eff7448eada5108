"""Learners whose rows per second are measured: each predicts a row or a chunk, scores it, then learns it."""

import importlib.util
import time

import keras
import numpy as np
from river import linear_model, metrics, tree
from sklearn.linear_model import SGDClassifier

import aranyani_tf as ar
from benchmarks.names import ADAPTIVE, HEIGHT, HOEFFDING, LOGISTIC, NUM_TREES

CHUNK = 16_384  # rows; Keras spends some milliseconds a chunk on its own affairs
SCIKIT_CHUNK = 4096
RIVER = {
    HOEFFDING: tree.HoeffdingTreeClassifier,
    ADAPTIVE: lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0),
    LOGISTIC: linear_model.LogisticRegression}


class ChunkClock(keras.callbacks.Callback):
    """Notes when the first chunk begins and when each one ends, so that the set-up of `fit` is left out.

    Args:
        now: `time.process_time`, or `time.perf_counter` where several cores work.
    """

    def __init__(self, now):
        super().__init__()
        self.now, self.moments = now, []

    def on_train_batch_begin(self, batch, logs=None):
        if not self.moments:
            self.moments.append(self.now())

    def on_train_batch_end(self, batch, logs=None):
        self.moments.append(self.now())


class Fit:
    """`Aranyani.fit` by one of the engines, warmed up by a chunk, so that nothing is compiled any more."""

    def __init__(self, num_features, engine="numba", level="node", height=HEIGHT):
        self.model = ar.Aranyani(num_trees=NUM_TREES, height=height, constraint=level, seed=0)
        self.model.compile(engine=engine)
        first = ar.datasets.load("synthetic", num_rows=CHUNK, num_features=num_features)
        self.model.fit(first.chunks(CHUNK), verbose=0)

    def moments(self, stream, now):
        """When the first chunk began and when each one ended."""
        clock = ChunkClock(now)
        self.model.fit(stream.chunks(CHUNK), verbose=0, callbacks=[clock])
        return clock.moments

    def seconds(self, stream):
        """CPU time of the chunks."""
        moments = self.moments(stream, time.process_time)
        return moments[-1] - moments[0]

    def state_bytes(self):
        return sum(weight.numpy().nbytes for weight in self.model.statistics.weights)


class River:
    """One of River's learners, new in each round; it gets its rows as dicts that were made before."""

    def __init__(self, make):
        self.make = make

    def seconds(self, dicts, labels):
        model, score, begin = self.make(), metrics.Accuracy(), time.process_time()
        for x, y in zip(dicts, labels, strict=True):
            score.update(y, model.predict_one(x))
            model.learn_one(x, y)
        return time.process_time() - begin


class PlainKeras:
    """The same forest without fairness, as Keras trains any model with one row a step."""

    def __init__(self, num_features):
        self.model = keras.Sequential([keras.Input((num_features,)), ar.ObliqueForest(NUM_TREES, HEIGHT, seed=0)])
        self.model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy")
        self.seconds(ar.datasets.load("synthetic", num_rows=10, num_features=num_features))

    def seconds(self, stream):
        begin = time.process_time()
        self.model.fit(stream.features, stream.labels, batch_size=1, shuffle=False, verbose=0)
        return time.process_time() - begin


class ScikitLearn:
    """Logistic regression in chunks: predicts a whole chunk, then learns it, which no forest here may do.

    The ceiling of what a plain linear model reaches.
    """

    def __init__(self, stream):
        self.model = SGDClassifier(loss="log_loss", random_state=0)
        self.model.partial_fit(stream.features, stream.labels, classes=[0, 1])

    def seconds(self, stream):
        begin, num_right = time.process_time(), 0
        for start in range(0, len(stream), SCIKIT_CHUNK):
            x, y = (rows[start : start + SCIKIT_CHUNK] for rows in (stream.features, stream.labels))
            num_right += np.sum(self.model.predict_proba(x).argmax(axis=1) == y)
            self.model.partial_fit(x, y)
        return time.process_time() - begin


class Sketch:
    """A yardstick from a file: the step of the node level as a bare loop, without checks, metrics or Keras.

    Args:
        path: a module with `state(num_trees, height, num_inputs)`, a list of arrays, and `walk(num_trees, height,
            inputs, labels, groups, *state, λ, δ, slope, learning_rate, outputs)`, where the last input is always 1.
        stream: the rows.
    """

    def __init__(self, path, stream):
        spec = importlib.util.spec_from_file_location("yardstick", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        inputs = np.concatenate([stream.features, np.ones((len(stream), 1), np.float32)], axis=1)
        self.walk, self.rows = module.walk, (inputs, stream.labels.astype(np.int32), stream.groups.astype(np.int32))
        self.state = module.state(NUM_TREES, HEIGHT, inputs.shape[1])
        self.outputs = np.zeros((len(stream), 2), np.float32)
        self.seconds(2)  # compiles it

    def seconds(self, num_rows=None):
        settings = map(np.float32, (0.1, 0.01, 1.0, 2e-3))  # λ, δ, slope, learning rate
        begin = time.process_time()
        self.walk(NUM_TREES, HEIGHT, *(array[:num_rows] for array in self.rows), *self.state, *settings,
                  self.outputs[:num_rows])
        return time.process_time() - begin
