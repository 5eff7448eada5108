"""Samples per second of `fit` against River and plain Keras, in one process on one thread.

Everything is measured in turns, round after round, and the best round counts, so that a busy
machine disturbs all contenders alike. Each learner predicts a sample, scores it, then learns it.
River gets its rows as ready-made dicts; compilation and the set-up of `fit` are timed apart.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce"))

import quiet  # noqa: F401

import keras
import numpy as np
import pandas as pd
import tensorflow as tf
from river import linear_model, metrics, tree

import aranyani_tf as ar
from aranyani_tf.files import whole_file
from harness.provenance import Clock, write_environment

OURS, HOEFFDING, GROVE = "aranyani fit", "river HoeffdingTree", "aranyani grove"
RIVER = {
    HOEFFDING: tree.HoeffdingTreeClassifier,
    "river HoeffdingAdaptiveTree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0),
    "river LogisticRegression": linear_model.LogisticRegression}
CHUNK = 16_384  # rows; Keras spends 2 to 4 ms a chunk on its own affairs
PLAIN = "keras fit(batch_size=1)"
ROWS = {14: (200_000, 20_000, 1_000), 40: (150_000, 20_000, 1_000), 768: (40_000, 1_000, 1_000)}


class ChunkClock(keras.callbacks.Callback):
    """CPU time of the chunks alone, without the set-up of `fit`."""

    def on_train_batch_begin(self, batch, logs=None):
        if batch == 0:
            self.start = time.process_time()

    def on_train_batch_end(self, batch, logs=None):
        self.seconds = time.process_time() - self.start


class Ours:
    """The model, warmed up; `compile_seconds` is what the first chunk took."""

    def __init__(self, num_features, height=4, num_trees=3):
        self.model = ar.Aranyani(num_trees=num_trees, height=height, seed=0)
        self.model.compile()
        begin = time.perf_counter()
        first = ar.datasets.load("synthetic", num_rows=CHUNK, num_features=num_features)
        self.model.fit(first.chunks(CHUNK), verbose=0)
        self.compile_seconds = time.perf_counter() - begin

    def seconds(self, stream):
        clock = ChunkClock()
        self.model.fit(stream.chunks(CHUNK), verbose=0, callbacks=[clock])
        return clock.seconds

    def state_bytes(self):
        return sum(weight.numpy().nbytes for weight in self.model.statistics.weights)


def river_seconds(make, rows, labels):
    model, score, begin = make(), metrics.Accuracy(), time.process_time()
    for x, y in zip(rows, labels, strict=True):
        score.update(y, model.predict_one(x))
        model.learn_one(x, y)
    return time.process_time() - begin


def plain_keras_seconds(model, stream):
    begin = time.process_time()
    model.fit(stream.features, stream.labels, batch_size=1, shuffle=False, verbose=0)
    return time.process_time() - begin


def throughput(num_features, rounds, scale):
    """One record per contender."""
    ours_rows, river_rows, keras_rows = (max(int(n * scale), 300) for n in ROWS[num_features])
    stream = ar.datasets.load("synthetic", num_rows=ours_rows, num_features=num_features)
    dicts = [dict(enumerate(row)) for row in stream.features[:river_rows].tolist()]
    labels = stream.labels[:river_rows].tolist()
    ours = Ours(num_features)
    plain = keras.Sequential([keras.Input((num_features,)), ar.ObliqueForest(3, 4, seed=0)])
    plain.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy")
    plain_keras_seconds(plain, stream[:10])
    best = {}
    for _ in range(rounds):
        times = {OURS: ours.seconds(stream) / len(stream)}
        for name, make in RIVER.items():
            times[name] = river_seconds(make, dicts, labels) / river_rows
        times[PLAIN] = plain_keras_seconds(plain, stream[:keras_rows]) / keras_rows
        best = {name: min(seconds, best.get(name, np.inf)) for name, seconds in times.items()}
    for name, seconds in best.items():
        record = {"measure": "throughput", "contender": name, "num_features": num_features, "height": 4,
                  "samples_per_second": 1 / seconds, "ratio_to_hoeffding_tree": best[HOEFFDING] / seconds}
        if name == OURS:
            record |= {"num_rows": len(stream), "compile_seconds": ours.compile_seconds,
                       "state_bytes": ours.state_bytes()}
        yield record


def groves(rounds, scale, num_members=40):
    """Model-samples per second of a grid, against the single model in the same rounds."""
    for num_features in (14, 40):
        stream = ar.datasets.load("synthetic", num_rows=max(int(64_000 * scale), 3 * CHUNK), num_features=num_features)
        ours, best = Ours(num_features), {}
        for _ in range(rounds):
            times = {OURS: ours.seconds(stream) / len(stream), GROVE: grove_seconds(stream, num_members)}
            best = {name: min(seconds, best.get(name, np.inf)) for name, seconds in times.items()}
        yield {"measure": "grove", "contender": f"{GROVE} of {num_members}", "num_features": num_features, "height": 4,
               "num_rows": len(stream), "samples_per_second": 1 / best[GROVE],
               "ratio_to_single_model": best[OURS] / best[GROVE]}


def grove_seconds(stream, num_members):
    """CPU time per row and member, without the first chunk, which is compiled."""
    clock = []
    grove = ar.Grove(fairness_weights=[0.1], seeds=range(num_members))
    grove.fit(stream, chunk_size=CHUNK, verbose=0, on_chunk=lambda done: clock.append((time.process_time(), done)))
    return (clock[-1][0] - clock[0][0]) / sum(done for _, done in clock[1:])


def heights(rounds, scale):
    stream = ar.datasets.load("synthetic", num_rows=max(int(40_000 * scale), 4096))
    for height in range(2, 11):
        ours = Ours(stream.num_features, height)
        seconds = min(ours.seconds(stream) for _ in range(rounds))
        yield {"measure": "height", "contender": OURS, "num_features": stream.num_features, "height": height,
               "num_rows": len(stream), "samples_per_second": len(stream) / seconds,
               "compile_seconds": ours.compile_seconds, "state_bytes": ours.state_bytes()}


def lengths(rounds, scale):
    ours = Ours(14)
    for num_rows in (10_000, 100_000, max(int(1_000_000 * scale), 200_000)):
        stream = ar.datasets.load("synthetic", num_rows=num_rows)
        seconds = min(ours.seconds(stream) for _ in range(rounds))
        yield {"measure": "length", "contender": OURS, "num_features": 14, "height": 4, "num_rows": num_rows,
               "samples_per_second": num_rows / seconds, "state_bytes": ours.state_bytes()}


def compilations():
    """How many programs XLA compiles for a ragged stream, then another weight and another length."""
    program = """if True:
        import aranyani_tf as ar
        stream = ar.datasets.load("synthetic", num_rows=10_000)
        model = ar.Aranyani()
        model.fit(stream.chunks(4096), verbose=0)
        model.fairness_weight = 1.0
        model.fit(stream[:7_777].chunks(4096), verbose=0)
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"XLA_FLAGS": f"--xla_dump_to={folder} --xla_dump_hlo_as_text"}
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment)
        steps = [name for name in os.listdir(folder)
                 if "train_step" in name and name.endswith("before_optimizations.txt")]
    if not steps:
        raise RuntimeError("none of the programs that XLA compiled is a training step; has its name changed?")
    yield {"measure": "compilations", "contender": OURS, "num_features": 14, "height": 4, "num_rows": 17_777,
           "compilations": len(steps)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="rounds; the best one counts (4)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual number of rows (1.0)")
    parser.add_argument("--output", type=Path, default=Path("results/benchmark.csv"))
    parser.add_argument("--only", metavar="MEASURE", help="measure this alone, and keep the file's other rows: "
                        "throughput, grove, height, length or compilations")
    arguments, clock = parser.parse_args(), Clock()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    effort = arguments.rounds, arguments.scale
    parts = [*(("throughput", f"{d} features", lambda d=d: throughput(d, *effort)) for d in ROWS),
             ("grove", "a grid in one pass", lambda: groves(*effort)),
             ("height", "heights 2 to 10", lambda: heights(*effort)),
             ("length", "lengths", lambda: lengths(*effort)), ("compilations", "compilations", compilations)]
    if arguments.only and arguments.only not in {measure for measure, *_ in parts}:
        parser.error(f"no measure {arguments.only!r}")
    parts = [part for part in parts if arguments.only in (None, part[0])]
    records = []
    for number, (_, name, run) in enumerate(parts, start=1):
        print(f"[{number}/{len(parts)}] {name} …", flush=True)
        records += run()
    table = pd.DataFrame(records)
    if arguments.only and arguments.output.is_file():
        known = pd.read_csv(arguments.output)
        table = pd.concat([known[known["measure"] != arguments.only], table])
    table = table.reindex(columns=[
        "measure", "contender", "num_features", "height", "num_rows", "samples_per_second",
        "ratio_to_hoeffding_tree", "ratio_to_single_model", "compile_seconds", "state_bytes", "compilations"])
    table = table.astype(dict.fromkeys(("num_rows", "state_bytes", "compilations"), "Int64"))
    digits = {"samples_per_second": 0, "ratio_to_hoeffding_tree": 2, "ratio_to_single_model": 2, "compile_seconds": 2}
    with whole_file(arguments.output, "w") as file:
        table.round(digits).to_csv(file, index=False)
    write_environment(arguments.output.parent / "environment.json", [arguments.output.stem], clock,
                      rounds=arguments.rounds, scale=arguments.scale, only=arguments.only)
    with pd.option_context("display.width", 200, "display.max_columns", None, "display.max_rows", None):
        for measure, rows in table.groupby("measure", sort=False):
            print(f"\n{measure}")
            print(rows.dropna(axis=1, how="all").drop(columns="measure").to_string(
                index=False, na_rep="", float_format=lambda value: f"{value:,.1f}"))
    print(f"\nwritten to {arguments.output}")


if __name__ == "__main__":
    main()
