"""What `fit` costs, on shapes of all kinds, and a model of it -> results/cost.csv, aranyani_tf/command/cost.json.

CPU time on one thread, the least of some repeats, each beside a run of one and the same reference: what slows the
machine slows both, and `seconds` has that factor taken out. Runs called `fit` make the model, those called `held_out`
have other sizes and longer streams, and judge it; a `process` is a fresh one, with its start and its memory.
"""

import argparse
import os
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy reads it when it is imported

import quiet  # noqa: F401

import warnings

import pandas as pd
from tqdm import tqdm

from aranyani_tf.command.cost_model import COEFFICIENTS, KIND, Job
from aranyani_tf.command.cost_run import on_one_thread
from aranyani_tf.files import whole_file
from harness.provenance import Clock
from trials.cost_fit import errors_of, fitted, predictions, with_seconds
from trials.cost_points import points
from trials.cost_runs import measured, processes
from trials.tables import place_of, write

DIGITS = {"start_seconds": 3, "cpu_seconds": 4, "reference_seconds": 5, "ratio_to_reference": 4, "seconds": 4,
          "megabytes": 0, "predicted_seconds": 4, "error": 3}


def measure(quick: bool, seed: int, repeats: int, kept: Path) -> pd.DataFrame:
    """All runs; those of the same jobs that a stopped run has left in the file `kept` are not made again."""
    jobs = [(kind, job) for kind in ("fit", "held_out") for job in points(kind, quick, seed)]
    jobs.sort(key=lambda each: each[1].engine)  # XLA, which takes most of the time, comes last
    records = taken_up(kept, jobs)
    with tqdm(total=len(jobs) + 2, initial=len(records), unit=" runs") as bar:
        left = jobs[len(records):]
        for (kind, _), record in zip(left, measured([job for _, job in left], repeats), strict=True):
            records.append({"kind": kind, **record})
            kept.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(kept, "w") as file:
                pd.DataFrame(records).to_csv(file, index=False)
            bar.update()
        for record in processes():
            records.append({"kind": "process", **record})
            bar.update()
    kept.unlink(missing_ok=True)
    return pd.DataFrame(records)


def taken_up(kept: Path, jobs: list[tuple[str, Job]]) -> list[dict]:
    """The records of a stopped run, if they are of the first of these jobs; else none."""
    records = pd.read_csv(kept).to_dict("records") if kept.is_file() else []
    found = [tuple(record.get(name) for name in ("kind", *Job._fields)) for record in records]
    return records if found == [(kind, *job) for kind, job in jobs[: len(found)]] else []


def table_of(found: pd.DataFrame, machine: str) -> tuple[pd.DataFrame, dict]:
    """The table with predictions beside measurements, and the contents of cost.json."""
    runs = with_seconds(found[found["kind"] != "process"])
    table = pd.concat([runs, found[found["kind"] == "process"]]).round(DIGITS)
    model = fitted(table, machine)  # of what the file has, so that anybody can fit it again
    runs = table[table["kind"] != "process"]
    told = pd.DataFrame({"predicted_seconds": predictions(model, runs), "error": errors_of(model, runs)})
    table = table.join(told).round(DIGITS).reindex(columns=["kind", *Job._fields, *DIGITS])
    contents = model._asdict()
    del contents["scale"]
    return table, contents


def show(table: pd.DataFrame) -> None:
    print(table[table["kind"] != "fit"].drop(columns=["cpu_seconds", "ratio_to_reference"]).to_string(
        index=False, na_rep=""))
    for kind, rows in table[table["kind"] != "process"].groupby("kind", sort=False):
        sizes = rows["error"].abs()
        print(f"{kind}: {(sizes <= 0.2).sum()} of {len(rows)} within 20 %, the worst {100 * sizes.max():.0f} %, "
              f"median {100 * sizes.median():.1f} %")
    beside = table["reference_seconds"].dropna()
    print(f"the reference took {beside.min():.3f} to {beside.max():.3f} s beside them")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few short runs; the package's coefficients stay")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of shapes (%(default)s)")
    parser.add_argument("--repeats", type=int, default=4, help="of which the least counts (%(default)s)")
    parser.add_argument("--fresh", action="store_true", help="begin anew; it goes on where it was stopped else")
    parser.add_argument("--refit", action="store_true", help="measure nothing: fit the runs that the file has again, "
                        "after a change of the model")
    parser.add_argument("--machine", default=f"a core of {processor()}", help="what cost.json calls it (%(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="results/cost.csv, or cost_quick.csv")
    arguments, clock = parser.parse_args(), Clock()
    output = place_of("cost", arguments.quick, arguments.output)
    on_one_thread()
    warnings.filterwarnings("ignore", "too few rows to tell a gap", UserWarning)
    if arguments.refit:
        found = pd.read_csv(output).drop(columns=["seconds", "predicted_seconds", "error"])
    else:
        kept = output.parent / ".parts" / f"{output.stem}.csv"
        if arguments.fresh:
            kept.unlink(missing_ok=True)
        found = measure(arguments.quick, arguments.seed, arguments.repeats, kept)
    table, contents = table_of(found, arguments.machine)
    if arguments.refit:  # the runs are those of before, and so is their place in the list of runs
        with whole_file(output, "w") as file:
            table.to_csv(file, index=False)
    else:
        write(table, output, clock, is_part=arguments.quick, seed=arguments.seed, repeats=arguments.repeats)
    if not arguments.quick:
        KIND.write(contents, COEFFICIENTS)
    show(table)
    print(f"written to {output}{'' if arguments.quick else f' and {COEFFICIENTS.name}'}")


def processor() -> str:
    """Its name, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
