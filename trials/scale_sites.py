"""Many streams on two and four actors: speed, latency, and an actor killed in between."""

import os
import signal
import time

import numpy as np

import aranyani_tf as ar
from aranyani_tf.scale import Sites
from trials.scale_processes import memory

NUM_SITES, SAVE_EVERY = 8, 1000


class Making:
    """A site's first model: each has another seed, and the same every time."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, site):
        return ar.Aranyani(fairness_weight=0.1, penalty=ar.Huber(linear_slope=1.0), seed=self.seed + int(site[5:]))


def rows_of(stream, site, first, end):
    """A site's own rows: every eighth of the stream."""
    own = stream[int(site[5:]) :: NUM_SITES][first:end]
    return own.features, own.labels, own.groups


def many_streams(counts, work, seed, quick):
    """Yields the records of each number of actors."""
    stream = ar.datasets.load("adult")[: 8000 if quick else None]
    names, length, size = [f"site {number}" for number in range(NUM_SITES)], len(stream) // NUM_SITES, 100
    make, probe, calls = Making(seed), stream.features[:200], 200 if quick else 1000
    undisturbed = {}
    for name in names:
        with make(name).live() as live:
            for first in range(0, length, size):
                live.learn(*rows_of(stream, name, first, min(first + size, length)))
            undisturbed[name] = live.predict(probe)
    for actors in counts:
        with Sites(make, work / f"{actors} actors", ray="local", actors=actors, save_every=SAVE_EVERY) as sites:
            begin = time.perf_counter()
            for name in names:
                sites.learned(name)
            found, acknowledged = {"first_answers_seconds": time.perf_counter() - begin}, 0
            killed_at, waited, spent = length // 2 // size * size + SAVE_EVERY % 300, 0.0, 0.0
            for first in range(0, length, size):
                end = min(first + size, length)
                if first <= killed_at < end:
                    actor = sites.actor(names[0])
                    os.kill(sites.ray.get(actor.__ray_call__.remote(lambda self: os.getpid())), signal.SIGKILL)
                begin = time.perf_counter()
                reached = sites.learn_together({name: rows_of(stream, name, first, end) for name in names})
                waited, spent = max(waited, time.perf_counter() - begin), spent + time.perf_counter() - begin
                acknowledged = sum(reached.values())
            same = all(np.array_equal(sites.predict(name, probe), undisturbed[name]) for name in names)
            found |= {"rows_per_second": acknowledged / (spent - waited), "acknowledged": acknowledged,
                      "lost": NUM_SITES * length - sum(sites.reached(name).learned for name in names),
                      "recovery_seconds": waited,
                      "same_bits_with_a_kill": same, **memory()}
            found |= latencies(sites, names[-1], stream, calls)
        yield [{"part": "many streams", "workers": actors, "num_sites": NUM_SITES, "measure": name,
                "value": float(value)} for name, value in found.items()]


def latencies(sites, site, stream, calls):
    """Microseconds of one row, through a call of its actor."""
    found, row = {}, (stream.features[0], stream.labels[0], stream.groups[0])
    for name, call in (("predict", lambda: sites.predict(site, row[0])), ("learn", lambda: sites.learn(site, *row))):
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            call()
            times.append(1e6 * (time.perf_counter() - begin))
        found |= {f"{name}_p50_microseconds": np.percentile(times, 50),
                  f"{name}_p99_microseconds": np.percentile(times, 99)}
    return found
