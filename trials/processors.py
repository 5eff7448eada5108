"""How far the same stream and seed come apart on other kinds of processors -> results/processors.csv.

Machine code is made for the processor at hand: by Numba for the engine, by XLA for TensorFlow's step. Both can be told
to leave instructions out, as if the processor had none of them. Adult is learned once by each, in a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import numpy as np
import pandas as pd
from tqdm import tqdm

from harness import ROOT
from harness.provenance import Clock
from trials.tables import place_of, write

HERE, NO_512, OLDEST = "as it is here", "without AVX-512", "without AVX and FMA"
CASES = {
    ("engine", HERE): {},
    ("engine", NO_512): {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""},
    ("engine", OLDEST): {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
    ("XLA", HERE): {},
    ("XLA", NO_512): {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"},
    ("XLA", OLDEST): {"XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2"}}
LEARN = """
import json, sys
import numpy as np
import aranyani_tf as ar

engine, rows, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
stream = ar.datasets.load("adult")[:rows]
model = ar.Aranyani(fairness_weight=0.1, seed=0)
model.compile(engine="numba" if engine == "engine" else "xla")
said = [model.predict_then_learn(*(array[start : start + 4096] for array in (
    stream.features, stream.labels, stream.groups))) for start in range(0, len(stream), 4096)]
np.savez(output, said=np.concatenate(said), **{str(index): array for index, array in enumerate(model.get_weights())})
print("SO FAR", json.dumps({name: float(value) for name, value in model.so_far().items()}))
"""


def learned(engine, environment, rows, folder):
    """What the model said row by row, its weights, and its metrics, on a processor that has certain instructions."""
    output = Path(folder) / "learned.npz"
    added = {"NUMBA_CACHE_DIR": str(folder), **environment} if environment else {}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", LEARN, engine, str(rows), output], text=True, cwd=ROOT,
                          capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)} | added)
    if done.returncode:
        raise RuntimeError(done.stderr)
    with np.load(output, allow_pickle=False) as arrays:
        return dict(arrays), json.loads(done.stdout.split("SO FAR")[1])


def measured(rows, cases=CASES):
    """One row a case, compared with the first of its engine."""
    found, first = [], {}
    for (engine, processor), environment in tqdm(cases.items(), unit="case"):
        with tempfile.TemporaryDirectory() as folder:
            arrays, so_far = learned(engine, environment, rows, folder)
        own = first.setdefault(engine, arrays)
        weights = [name for name in arrays if name != "said"]
        apart = np.flatnonzero(np.abs(arrays["said"] - own["said"]).max(axis=1) > 1e-3)
        found.append({
            "engine": engine, "processor": processor, "rows": rows,
            "same_bytes": all(np.array_equal(arrays[name], own[name]) for name in arrays),
            "largest_difference_of_weights": max(np.abs(arrays[name] - own[name]).max() for name in weights),
            "largest_difference_of_probabilities": np.abs(arrays["said"] - own["said"]).max(),
            "first_row_over_a_thousandth": apart[0] if len(apart) else None,
            "other_decisions": int((arrays["said"].argmax(axis=1) != own["said"].argmax(axis=1)).sum()),
            "accuracy": so_far["accuracy"], "demographic_parity": so_far["demographic_parity"]})
    return pd.DataFrame(found).astype({"first_row_over_a_thousandth": "Int64"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2,000 rows")
    parser.add_argument("--output", type=Path, metavar="FILE", help="results/processors.csv, or processors_quick.csv")
    options, clock = parser.parse_args(), Clock()
    output = place_of("processors", options.quick, options.output)
    table = measured(2000 if options.quick else 32_561)
    write(table, output, clock, is_part=options.quick, float_format="%.6g", seeds=[0])
    print(table.to_string(index=False), f"\n→ {output}")


if __name__ == "__main__":
    main()
