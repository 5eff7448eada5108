"""How long one row takes, in wall time: what a service waits for."""

import time

import numpy as np

import aranyani_tf as ar
from benchmarks.contenders import RIVER, ScikitLearn
from benchmarks.names import BOTH, HEIGHT, HOEFFDING, LEARN, LIVE, LOGISTIC, MODEL, NUM_TREES, PREDICT, SCIKIT
from benchmarks.turns import best_of

WARM_UP = 3_000  # rows that every learner knows before: a tree has grown, and all programs are compiled
FRESH = 1_000  # rows after them, taken again and again
BLOCK, BLOCKS = 200, 10  # rows before the next learner's turn, and turns in a round
LEAD_IN = 10  # rows of a block that are not timed: they find the caches full of another learner's numbers


def latency(num_features, rounds, scale):
    """One record for each learner and operation, with the median and the 99th percentile."""
    warm_up, fresh, num_blocks = (max(int(n * scale), least)
                                  for n, least in ((WARM_UP, 300), (FRESH, 200), (BLOCKS, 1)))
    stream = ar.datasets.load("synthetic", num_rows=warm_up + fresh, num_features=num_features)
    known, coming = stream[:warm_up], stream[warm_up:]
    model = warmed_model(known)
    with warmed_model(known).live() as live:
        operations = {**our_operations(model, live, coming), **river_operations(known, coming),
                      **scikit_operations(known, coming)}
        best = best_of(rounds, lambda: one_round(operations, num_blocks, fresh))
    for (contender, operation), (median, tail) in best.items():
        record = {"measure": "latency", "contender": contender, "operation": operation, "num_features": num_features,
                  "height": HEIGHT, "num_rows": num_blocks * BLOCK, "p50_microseconds": 1e6 * median,
                  "p99_microseconds": 1e6 * tail}
        if (HOEFFDING, operation) in best:
            record["ratio_to_hoeffding_tree"] = best[HOEFFDING, operation][0] / median
        yield record


def warmed_model(known):
    model = ar.Aranyani(num_trees=NUM_TREES, height=HEIGHT, seed=0)
    model.compile()
    model.fit(known.chunks(4096), verbose=0)
    return model


def our_operations(model, live, coming):
    """What is timed of ours; each is a function of the row's number."""
    rows, labels, groups = list(coming.features), coming.labels.tolist(), coming.groups.tolist()
    single = [(coming.features[i : i + 1], coming.labels[i : i + 1], coming.groups[i : i + 1])
              for i in range(len(coming))]
    return {
        (LIVE, PREDICT): lambda i: live.predict(rows[i]),
        (LIVE, BOTH): lambda i: live.predict_then_learn(rows[i], labels[i], groups[i]),
        (MODEL, PREDICT): lambda i: model.predict(single[i][0], verbose=0),
        (MODEL, BOTH): lambda i: model.predict_then_learn(*single[i])}


def river_operations(known, coming):
    """River's learners, which have learned the rows before; they get dicts that were made before."""
    operations, labels = {}, coming.labels.tolist()
    dicts = [dict(enumerate(row)) for row in coming.features.tolist()]
    for name in (HOEFFDING, LOGISTIC):
        learner = RIVER[name]()
        for x, y in zip(known.features.tolist(), known.labels.tolist(), strict=True):
            learner.learn_one(dict(enumerate(x)), y)

        def predict(i, learner=learner):
            return learner.predict_one(dicts[i])

        def predict_then_learn(i, learner=learner):
            said = learner.predict_one(dicts[i])
            learner.learn_one(dicts[i], labels[i])
            return said

        operations |= {(name, PREDICT): predict, (name, BOTH): predict_then_learn}
    return operations


def scikit_operations(known, coming):
    """`partial_fit` alone too: it is what most people call for a row."""
    model = ScikitLearn(known).model
    single = [(coming.features[i : i + 1], coming.labels[i : i + 1]) for i in range(len(coming))]

    def predict_then_learn(i):
        said = model.predict_proba(single[i][0])
        model.partial_fit(*single[i])
        return said

    return {(SCIKIT, PREDICT): lambda i: model.predict_proba(single[i][0]),
            (SCIKIT, LEARN): lambda i: model.partial_fit(*single[i]),
            (SCIKIT, BOTH): predict_then_learn}


def one_round(operations, num_blocks, num_rows):
    """Seconds of a row by each operation, (median, 99th percentile), over blocks in turn."""
    found = {key: [] for key in operations}
    for number in range(num_blocks):
        rows = [(number * BLOCK + i) % num_rows for i in range(BLOCK)]
        for key, operation in operations.items():
            for row in rows[-LEAD_IN:]:
                operation(row)
            found[key] += seconds_of_each(operation, rows)
    return {key: np.percentile(seconds, (50, 99)) for key, seconds in found.items()}


def seconds_of_each(operation, rows):
    now, seconds = time.perf_counter, []
    for row in rows:
        begin = now()
        operation(row)
        seconds.append(now() - begin)
    return seconds
