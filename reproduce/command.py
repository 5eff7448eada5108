"""What the scripts of all figures share: the command line, the run, the summary, the log."""

import argparse
import json
import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

from aranyani_tf.files import whole_file
from aranyani_tf.tracking import log_safely
from experiments import RESULTS, ROOT
from plots import SETTINGS, last_records, save
from runner import run_all

PACKAGES = ("tensorflow", "keras", "numpy", "pandas", "matplotlib")


def run_figure(name, title, experiments_of, draw):
    """Runs a figure's experiments, and leaves CSV, PNG, PDF and a summary."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and rows; writes <name>_quick.*")
    parser.add_argument("--fresh", action="store_true", help="start over, also what is done already")
    parser.add_argument("--no-wandb", action="store_true", help="do not log to Weights & Biases")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="at once; default: one a core")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args()
    if options.processes < 1:
        parser.error(f"--processes must be at least 1, got {options.processes}")
    name += "_quick" if options.quick else ""
    experiments = experiments_of(options.quick)
    begin, state = time.perf_counter(), repository_state()
    records = run_all(name, experiments, results=options.results, fresh=options.fresh, processes=options.processes)
    duration = time.perf_counter() - begin
    if records.attrs["num_run"]:  # or else they were made by an earlier run
        environment = "environment_quick.json" if options.quick else "environment.json"
        write_environment(options.results / environment, name, experiments, duration, state)
    pictures = save(draw(records), options.results, name)
    if not options.no_wandb:
        log_safely(name, records, pictures[:1], seconds=max(10.0, 0.1 * duration))
    print(f"\n{title}\n\n{summary(records)}\n")
    for path in (options.results / f"{name}.csv", *pictures):
        print(f"→ {path}")


def summary(records):
    """Mean ± standard deviation over the seeds at the end of the stream, for each setting."""
    ends = last_records(records).query("method != 'majority'")
    shown = [name for name in SETTINGS if name in ("dataset", "method", "rule", "fairness_weight")
             or ends[name].nunique(dropna=False) > 1]
    table = ends.groupby(shown, dropna=False)[["accuracy", "demographic_parity"]].agg(["mean", "std", "count"])
    lines = {"accuracy %": table["accuracy"].assign(**(100 * table["accuracy"][["mean", "std"]])),
             "demographic parity": table["demographic_parity"]}
    text = table.index.to_frame(index=False)
    for column, found in lines.items():
        digits = 2 if "%" in column else 4
        text[column] = [f"{mean:.{digits}f}" + (f" ± {spread:.{digits}f}" if count > 1 else "")
                        for mean, spread, count in zip(found["mean"], found["std"], found["count"], strict=True)]
    text["seeds"] = table["accuracy"]["count"].to_numpy()
    return text.to_string(index=False, na_rep="")


def repository_state():
    """The commit, and whether the code differs from it; asked before a run writes its results."""
    return {"commit": git("rev-parse", "HEAD"),
            "uncommitted_changes": bool(git("status", "--porcelain", "-uno", "--", ".", ":!results"))}


def write_environment(path, name, experiments, duration, state):
    """What the run was made with, beside what other figures were made with."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known[name] = {
        "versions": {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}},
        **state,
        "seeds": sorted({seed for experiment in experiments for seed in experiment.seeds}),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "duration_seconds": round(duration, 1)}
    with whole_file(path, "w") as file:
        json.dump(known, file, indent=2)


def git(*arguments):
    """What git says, or None where there is no repository."""
    try:
        result = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None
