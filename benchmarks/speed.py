"""Speed of learning and answering against River, scikit-learn and plain Keras, on one thread but for the Grove.

Everything is measured in turns, round after round, and the best round counts, so that a busy machine disturbs all
contenders alike; ratios are of one and the same run. Rows per second are of CPU time, latencies, a process's first
call and the Grove, which uses all cores, of wall time.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy and scikit-learn read it when they are imported

import quiet  # noqa: F401

import pandas as pd
import tensorflow as tf

from aranyani_tf.files import whole_file
from benchmarks.groves import groves
from benchmarks.latency import latency
from benchmarks.names import WIDTHS
from benchmarks.pipelines import pipelines
from benchmarks.sizes import heights, lengths
from benchmarks.starts import compilations, first_calls
from benchmarks.throughput import throughput
from harness.provenance import Clock, write_environment

DIGITS = {"rows_per_second": 0, "ratio_to_hoeffding_tree": 2, "ratio_to_xla": 2, "ratio_to_yardstick": 3,
          "ratio_to_single_model": 2, "p50_microseconds": 2, "p99_microseconds": 2, "first_call_seconds": 3}
WHOLE = ("num_rows", "cores", "state_bytes", "compilations")
COLUMNS = ("measure", "contender", "engine", "level", "operation", "num_features", "height", "num_rows", "cores",
           *DIGITS, "state_bytes", "compilations")


def parts(rounds, scale, widths, yardstick):
    """(measure, what is told of it, function that gives its records) of everything there is to measure."""
    for width in widths:
        yield ("throughput", f"rows per second at {width} features",
               lambda width=width: throughput(width, rounds, scale, yardstick))
    for width in widths:
        yield "latency", f"one row of {width} features", lambda width=width: latency(width, rounds, scale)
    for width in widths:
        yield ("pipeline", f"River's pipelines at {width} features",
               lambda width=width: pipelines(width, rounds, scale))
    yield "grove", "a grid on all cores", lambda: groves(rounds, scale)
    yield "height", "heights 2 to 10", lambda: heights(rounds, scale)
    yield "length", "lengths", lambda: lengths(rounds, scale)
    yield "first_call", "first calls of fresh processes", lambda: first_calls(rounds, widths)
    yield "compilations", "compilations", compilations


def as_table(records, measure, output):
    """The records as a data frame; those of one measure alone beside the other rows that the file has."""
    table = pd.DataFrame(records)
    if measure and output.is_file():
        known = pd.read_csv(output)
        table = pd.concat([known[known["measure"] != measure], table])
    return table.reindex(columns=list(COLUMNS)).astype(dict.fromkeys(WHOLE, "Int64")).round(DIGITS)


def show(table):
    with pd.option_context("display.width", 200, "display.max_columns", None, "display.max_rows", None):
        for measure, rows in table.groupby("measure", sort=False):
            print(f"\n{measure}")
            print(rows.dropna(axis=1, how="all").drop(columns="measure").to_string(
                index=False, na_rep="", float_format=lambda value: f"{value:,.2f}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="rounds; the best one counts (4)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual number of rows (1.0)")
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS, choices=WIDTHS, help="numbers of features "
                        f"({', '.join(map(str, WIDTHS))})")
    parser.add_argument("--output", type=Path, default=Path("results/benchmark.csv"))
    parser.add_argument("--only", metavar="MEASURE", help="measure this alone, and keep the file's other rows: "
                        "throughput, latency, pipeline, grove, height, length, first_call or compilations")
    parser.add_argument("--yardstick", metavar="FILE", type=Path, help="a Python file with the node level's step as a "
                        "bare loop (benchmarks/contenders.py, Sketch), to be measured beside `fit`")
    arguments, clock = parser.parse_args(), Clock()
    wanted = list(parts(arguments.rounds, arguments.scale, arguments.widths, arguments.yardstick))
    if arguments.only and arguments.only not in {measure for measure, *_ in wanted}:
        parser.error(f"no measure {arguments.only!r}")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    wanted = [part for part in wanted if arguments.only in (None, part[0])]
    records = []
    for number, (_, told, run) in enumerate(wanted, start=1):
        print(f"[{number}/{len(wanted)}] {told} …", flush=True)
        records += run()
    table = as_table(records, arguments.only, arguments.output)
    with whole_file(arguments.output, "w") as file:
        table.to_csv(file, index=False)
    write_environment(arguments.output.parent / "environment.json", [arguments.output.stem], clock,
                      rounds=arguments.rounds, scale=arguments.scale, widths=list(arguments.widths),
                      only=arguments.only,
                      yardstick=arguments.yardstick is not None)
    show(table)
    print(f"\nwritten to {arguments.output}")


if __name__ == "__main__":
    main()
