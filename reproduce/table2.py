"""Table 2: time to process the Adult stream, as a ratio to the Hoeffding tree, beside the paper's."""

import quiet  # noqa: F401

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree, hoeffding_tree
from aranyani_tf.baselines.mlp import perceptron
from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.provenance import Clock, write_environment

PAPER_MINUTES = {"HT": 5.07, "AHT": 5.67, "Aranyani": 32.97, "Aranyani (MLP)": 14.65, "Aranyani (Leaf)": 37.12}
TREES = {"HT": hoeffding_tree, "AHT": adaptive_hoeffding_tree}
MODELS = {"Aranyani": lambda: ar.Aranyani(seed=0),
          "Aranyani (MLP)": lambda: ar.Aranyani(predictor=perceptron(14)),
          "Aranyani (Leaf)": lambda: ar.Aranyani(constraint="leaf", seed=0)}


def seconds(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(stream, repeats):
    """Seconds of every round: CPU time on one thread, one method after the other, all by `predict_then_learn`."""
    models, rounds = {name: make() for name, make in MODELS.items()}, []

    def pass_of(learner):
        return seconds(lambda: learner.predict_then_learn(stream.features, stream.labels, stream.groups))

    compiled = {name: pass_of(model) for name, model in models.items()}  # the first pass compiles
    for number in range(repeats):
        print(f"round {number + 1} of {repeats} …", flush=True)
        learners = {name: make() for name, make in TREES.items()} | models
        rounds.append({name: pass_of(learner) for name, learner in learners.items()})
    return pd.DataFrame(rounds), compiled


def table(rounds, compiled):
    means = rounds.mean()
    found = pd.DataFrame({"method": rounds.columns, "seconds": means.to_numpy(),
                          "seconds_std": rounds.std().to_numpy(),
                          "ratio_to_ht": (means / means["HT"]).to_numpy()})
    found["times_faster_than_ht"] = 1 / found["ratio_to_ht"]
    found["compile_seconds"] = [max(compiled[name] - means[name], 0) if name in compiled else np.nan
                                for name in found["method"]]
    found["paper_minutes"] = found["method"].map(PAPER_MINUTES)
    found["paper_ratio_to_ht"] = found["paper_minutes"] / PAPER_MINUTES["HT"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, help="of the stream; default: all")
    parser.add_argument("--output", type=Path, default=RESULTS / "table2.csv")
    options, clock = parser.parse_args(), Clock()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    found = table(*measure(ar.datasets.load("adult")[: options.rows], options.repeats))
    with whole_file(options.output, "w") as file:
        found.to_csv(file, index=False, float_format="%.4g")
    write_environment(options.output.parent / "environment.json", [options.output.stem], clock,
                      repeats=options.repeats, rows=options.rows)
    print(found.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    print(f"\n→ {options.output}")


if __name__ == "__main__":
    main()
