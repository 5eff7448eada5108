"""What the scripts of all figures share: the command line, the run, the summary, the log."""

import quiet  # noqa: F401

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure as Picture

from aranyani_tf.errors import ArgumentError
from harness import RESULTS
from harness.experiments import Experiment
from harness.matching import varied
from harness.options import add_workers, require_workers
from harness.plots import last_records, save
from harness.provenance import Clock, write_environment
from harness.readings import write_reading
from harness.runner import run_all
from harness.scales import FULL, QUICK, TINY, Scale
from harness.settings import CURVE
from harness.sums import is_noted, note_sums
from harness.tracking import log_safely


@dataclass(frozen=True)
class Figure:
    """One figure: which experiments, how they are drawn, and what is read off them.

    A script of `reproduce/` that has one under the name FIGURE is known to `make` by the script's name.

    Args:
        name: of its files.
        title: one line, also the script's help.
        experiments: function of a `scales.Scale`.
        draw: function of the records, gives a matplotlib figure.
        read: function of the records, gives a sentence or a few about what the numbers say.
        in_all: whether `make figures` makes it too; not if it takes long.
        ends: whether its CSV has the end of each run alone, and not the way there.
    """

    name: str
    title: str
    experiments: Callable[[Scale], list[Experiment]]
    draw: Callable[[pd.DataFrame], Picture]
    read: Callable[[pd.DataFrame], str]
    in_all: bool = True
    ends: bool = False

    def main(self, arguments: list[str] | None = None) -> None:
        options = parsed(self.title, arguments)
        try:
            self.make(options)
        except (ArgumentError, OSError) as error:  # no cluster there, no data, or no folder to write to
            sys.exit(str(error))

    def make(self, options: argparse.Namespace) -> None:
        """Runs what is missing, and leaves CSV, PNG, PDF, a reading and a summary."""
        name, experiments = self.name + options.scale.name, self.experiments(options.scale)
        clock = Clock()
        records = run_all(name, experiments, results=options.results, fresh=options.fresh,
                          processes=options.processes, ends=self.ends, ray=options.ray)
        duration = clock.seconds
        of_killed = options.scale is FULL and not is_noted(options.results, name)  # which did not come to tell its own
        if records.attrs["num_run"] or of_killed:  # or else they were made by an earlier run
            tell_environment(options, [name], experiments, clock, records.attrs["num_run"])
        pictures, reading = save(self.draw(records), options.results, name), self.read(records)
        if options.scale is FULL:
            note_sums(options.results, [name])
            write_reading(options.results, name, self.title, reading)
        if not options.no_wandb:
            log_safely(name, records, pictures[:1], seconds=max(10.0, 0.1 * duration))
        print(f"\n{self.title}\n\n{summary(records)}\n\n{reading}\n")
        for path in (options.results / f"{name}.csv", *pictures):
            print(f"→ {path}")


def tell_environment(options: argparse.Namespace, names: list[str], experiments: list[Experiment], clock: Clock,
                     num_run: int) -> None:
    """Enters a run of figures into the list of runs."""
    write_environment(options.results / f"environment{options.scale.name}.json", names, clock,
                      seeds=sorted({seed for experiment in experiments for seed in experiment.seeds}),
                      experiments=len(experiments), experiments_run=num_run)  # the others were done already


def parsed(title: str, arguments: list[str] | None = None) -> argparse.Namespace:
    """The options of every figure's script."""
    parser = argparse.ArgumentParser(description=title)
    scales = parser.add_mutually_exclusive_group()
    scales.add_argument("--quick", dest="scale", action="store_const", const=QUICK, default=FULL,
                        help="fewer seeds, settings and rows; writes <name>_quick.*")
    scales.add_argument("--tiny", dest="scale", action="store_const", const=TINY, help="for tests: a few rows")
    parser.add_argument("--fresh", action="store_true", help="start over, also what is done already")
    parser.add_argument("--no-wandb", action="store_true", help="do not log to Weights & Biases")
    add_workers(parser)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args(arguments)
    require_workers(parser, options)
    return options


def summary(records: pd.DataFrame) -> str:
    """Mean ± standard deviation over the seeds at the end of the stream, for each setting."""
    ends = last_records(records).query("method != 'majority'")
    differ = {"dataset", "method", "rule", *varied(ends)}
    shown = [*(name for name in CURVE if name in differ), "fairness_weight"]
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
