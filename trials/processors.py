"""How far the same stream and seed come apart on other kinds of processors -> results/processors.csv.

Machine code is made for the processor at hand: by Numba for the engine, by XLA for TensorFlow's step. Both can be told
to leave instructions out, as if the processor had none of them. Three streams are learned by each, in a process of its
own.
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
STREAMS = {  # dataset, slope of the penalty: the paper's is δ; with the released one, rounding decides a gap's side
    "Adult, the paper's rule": ("adult", None), "Adult, the released rule": ("adult", 1.0),
    "COMPAS, the released rule": ("compas", 1.0)}
LEARN = """
import json, sys
import numpy as np
import aranyani_tf as ar

engine, rows, folder, streams = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
for number, (dataset, slope) in enumerate(streams):
    stream = ar.datasets.load(dataset)[:rows]
    model = ar.Aranyani(fairness_weight=0.1, penalty=ar.Huber(linear_slope=slope), seed=0)
    model.compile(engine="numba" if engine == "engine" else "xla")
    said = [model.predict_then_learn(*(array[start : start + 4096] for array in (
        stream.features, stream.labels, stream.groups))) for start in range(0, len(stream), 4096)]
    so_far = model.so_far()
    np.savez(f"{folder}/{number}.npz", said=np.concatenate(said),
             so_far=[so_far["accuracy"], so_far["demographic_parity"]],
             **{str(index): array for index, array in enumerate(model.get_weights())})
"""


def learned(engine, environment, rows, streams=STREAMS):
    """Stream → what the model said row by row, its weights, accuracy and gap, on a processor of these instructions."""
    with tempfile.TemporaryDirectory() as folder:
        added = {"NUMBA_CACHE_DIR": folder, **environment} if environment else {}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", LEARN, engine, str(rows), folder, json.dumps([*streams.values()])],
            text=True, cwd=ROOT, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)} | added)
        if done.returncode:
            raise RuntimeError(done.stderr)
        found = {}
        for number, stream in enumerate(streams):
            with np.load(Path(folder) / f"{number}.npz", allow_pickle=False) as arrays:
                found[stream] = dict(arrays)
        return found


def measured(rows, cases=CASES, streams=STREAMS):
    """One row a stream and case, compared with the first of its engine."""
    by_case = {case: learned(case[0], environment, rows, streams)
               for case, environment in tqdm(cases.items(), unit="case")}
    found = []
    for stream in streams:
        first = {}
        for (engine, processor), by_stream in by_case.items():
            arrays = by_stream[stream]
            found.append({"stream": stream, "engine": engine, "processor": processor}
                         | compared(arrays, first.setdefault(engine, arrays)))
    return pd.DataFrame(found).astype({"first_row_over_a_thousandth": "Int64"})


def compared(arrays, own):
    """How far two runs of the same rows are apart."""
    weights = [name for name in arrays if name not in ("said", "so_far")]
    away = np.abs(arrays["said"] - own["said"]).max(axis=1)
    apart, (accuracy, gap) = np.flatnonzero(away > 1e-3), arrays["so_far"]
    return {"rows": len(away), "same_bytes": all(np.array_equal(arrays[name], own[name]) for name in arrays),
            "largest_difference_of_weights": max(np.abs(arrays[name] - own[name]).max() for name in weights),
            "largest_difference_of_probabilities": away.max(),
            "first_row_over_a_thousandth": apart[0] if len(apart) else None,
            "other_decisions": int((arrays["said"].argmax(axis=1) != own["said"].argmax(axis=1)).sum()),
            "accuracy": accuracy, "demographic_parity": gap}


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
