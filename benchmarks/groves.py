"""A grid of forests on all cores against a single model, in wall time."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import aranyani_tf as ar
from aranyani_tf.grove.engine_walk import num_threads
from benchmarks.contenders import CHUNK, Fit
from benchmarks.names import FIT, GROVE, HEIGHT
from benchmarks.turns import best_of

NUM_MEMBERS = 40


def groves(rounds, scale):
    """Records from a process of its own: in this one TensorFlow has one thread, and a Grove as many as TensorFlow."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured_groves, rounds, scale).result()


def measured_groves(rounds, scale):
    records = []
    for num_features in (14, 40):
        stream = ar.datasets.load("synthetic", num_rows=max(int(8 * CHUNK * scale), 3 * CHUNK),
                                  num_features=num_features)
        single = Fit(num_features)

        def one_round(stream=stream, single=single):
            moments = single.moments(stream, time.perf_counter)[1:]
            return {FIT: (moments[-1] - moments[0]) / (len(stream) - CHUNK), GROVE: grove_seconds(stream)}

        best = best_of(rounds, one_round)
        records.append({
            "measure": "grove", "contender": f"{GROVE} of {NUM_MEMBERS}", "engine": "numba", "level": "node",
            "num_features": num_features, "height": HEIGHT, "num_rows": len(stream), "cores": num_threads(),
            "rows_per_second": 1 / best[GROVE], "ratio_to_single_model": best[FIT] / best[GROVE]})
    return records


def grove_seconds(stream):
    """Wall time for a row and a member, from the end of the first chunk on: before it the members are made."""
    clock = []
    grove = ar.Grove(fairness_weights=[0.1], seeds=range(NUM_MEMBERS))
    grove.fit(stream, chunk_size=CHUNK, verbose=0, on_chunk=lambda done: clock.append((time.perf_counter(), done)))
    return (clock[-1][0] - clock[0][0]) / sum(done for _, done in clock[1:])
