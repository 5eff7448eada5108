"""Memory of a process that learns Adult: Aranyani's, and Reservoir's, which stores samples -> results/memory.csv."""

import quiet  # noqa: F401

import argparse
import subprocess
import sys
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from aranyani_tf.files import whole_file
from harness import RESULTS, ROOT
from harness.provenance import Clock, write_environment

# Both by TensorFlow's step, as the paper's are. Reservoir's arrays have their full size from the first row on, so that
# a part of the stream is enough.
PROGRAM = """if True:
    import resource, sys
    import tensorflow as tf
    import aranyani_tf as ar
    from aranyani_tf.baselines.reservoir import Reservoir
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    name, seed, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    stream, settings = ar.datasets.load("adult"), {"seed": seed, "fairness_weight": 0.1}
    if name == "aranyani":
        model = ar.Aranyani(**settings)
    else:
        model = Reservoir(capacity=len(stream) if name == "reservoir" else 500, **settings)
    model.compile(engine="xla")
    model.predict_then_learn(stream.features[:rows], stream.labels[:rows], stream.groups[:rows])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
CONTENDERS = ("aranyani", "reservoir_500", "reservoir")


def peak_megabytes(contender: str, seed: int, rows: int) -> float:
    """Of a fresh process."""
    said = subprocess.run([sys.executable, "-c", PROGRAM, contender, str(seed), str(rows)], check=True,
                          capture_output=True, text=True, cwd=ROOT)
    return float(said.stdout.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=5, help="processes of each kind (5)")
    parser.add_argument("--rows", type=int, default=2000, help="rows that are learned (2000)")
    options, clock = parser.parse_args(), Clock()
    runs = [(contender, seed) for seed in range(options.seeds) for contender in CONTENDERS]
    found = pd.DataFrame([{"contender": contender, "seed": seed, "rows": options.rows,
                           "peak_megabytes": peak_megabytes(contender, seed, options.rows)}
                          for contender, seed in tqdm(runs, unit="process")])
    with whole_file(options.results / "memory.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.1f")
    write_environment(options.results / "environment.json", ["memory"], clock)
    means = found.groupby("contender", sort=False)["peak_megabytes"].mean()
    for contender in CONTENDERS[1:]:
        print(f"Aranyani's process has {means['aranyani']:.0f} MB at most, {contender}'s {means[contender]:.0f} MB: "
              f"{100 * (1 - means['aranyani'] / means[contender]):.0f} % less")
    print(f"\n→ {options.results / 'memory.csv'}")


if __name__ == "__main__":
    main()
