"""The field: every method on every stream at the gap that one needs -> results/field.csv, field.md, pictures."""

import quiet  # noqa: F401

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.files import whole_file
from harness import RESULTS, field_page, field_plots, registry
from harness.field_runs import FieldRun, cannot
from harness.field_streams import STREAMS, FieldStream, chosen, here
from harness.field_table import STREAM, table, with_costs
from harness.parts import is_whole, joined, part_of
from harness.plots import save
from harness.provenance import Clock, write_environment
from harness.runner import complete

SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Size:
    """How much is run: the ending of the files, seeds, rows of a stream (None: see `field_streams`), λ, streams."""

    name: str = ""
    seeds: tuple = SEEDS
    rows: int | None = None
    weights: int | None = None
    streams: tuple = STREAMS

    def some(self, weights: tuple) -> tuple:
        """The λ, or a few of them with the first and the last."""
        if self.weights is None or len(weights) <= self.weights:
            return weights
        last = len(weights) - 1
        return tuple(weights[round(index * last / (self.weights - 1))] for index in range(self.weights))


FULL = Size()
QUICK = Size("_quick", SEEDS[:2], 3_000, 3, (STREAMS[0], STREAMS[3], STREAMS[7]))  # Adult, COMPAS, nine groups
TINY = Size("_tiny", SEEDS[:2], 400, 2, STREAMS[3:4])  # for tests


def plan(size: Size, methods: list[str] | None = None,
         streams: tuple[FieldStream, ...] | None = None) -> tuple[list[FieldRun], list[str]]:
    """What is to be run, and what is left out and why."""
    contenders = [registry.method(name) for name in methods] if methods else [
        each for each in registry.methods().values() if each.field]
    runs, left_out = [], []
    for stream, reason in here(streams or size.streams).items():
        if reason:
            left_out.append(f"{stream.title}: {reason}")
            continue
        for how in contenders:
            weights = registry.TARGETS if how.steered else size.some(how.fairness_weights)
            run = FieldRun(stream.dataset, weights, size.seeds, preprocessing=stream.preprocessing, method=how.name,
                           rule=how.rule, groups=stream.groups, rows=size.rows, told=how.notions)
            reason = cannot(how, run.stream(), registry.NOTIONS[0])
            if reason:
                left_out.append(f"{how.label} on {stream.title}: {reason}")
            else:
                runs.append(run)
    return runs, left_out


def records_of(runs: list[FieldRun], results: Path, earlier: Path | None) -> pd.DataFrame:
    """The records of these runs, and of an earlier file those that no run has made anew."""
    new = joined([part_of(run, results) for run in runs])
    if earlier is not None and earlier.is_file():
        old = pd.read_csv(earlier, dtype=str, keep_default_na=False)
        made = set(map(tuple, new[[*STREAM, "method"]].to_numpy()))
        is_old = [key not in made and key[-1] in registry.methods()
                  for key in map(tuple, old[[*STREAM, "method"]].to_numpy())]
        new = pd.concat([old[is_old], new], ignore_index=True)
    places = {(each.dataset, each.preprocessing, each.groups or ""): index for index, each in enumerate(STREAMS)}
    order = pd.DataFrame({"stream": [places.get(key, 99) for key in map(tuple, new[STREAM].to_numpy())],
                          "method": new["method"].map(list(registry.methods()).index).to_numpy()})
    return new.iloc[order.sort_values(["stream", "method"], kind="stable").index].reset_index(drop=True)


def as_numbers(texts: pd.DataFrame) -> pd.DataFrame:
    words = [*STREAM, "method", "told"]
    return texts.assign(**{name: pd.to_numeric(texts[name]) for name in texts if name not in words})


def tell_time(runs: list[FieldRun], results: Path, processes: int) -> None:
    """About how long what is missing will take."""
    missing = [run for run in runs if not is_whole(part_of(run, results))]
    seconds = sum(run.cost for run in missing) / processes
    print(f"{len(runs)} runs of a method over a stream, {len(missing)} of them to be made: about "
          f"{max(seconds / 60, 1):.0f} minutes with {processes} processes", flush=True)


def make(size: Size, results: Path, *, methods: list[str] | None = None, datasets: list[str] | None = None,
         processes: int = 1, fresh: bool = False, progress: bool = True) -> pd.DataFrame:
    """Runs what is missing, and writes all files; gives `field.csv`."""
    name, clock = f"field{size.name}", Clock()
    runs, left_out = plan(size, methods, chosen(datasets) if datasets else None)
    if not runs:
        raise ArgumentError(f"there is nothing to run: {'; '.join(left_out)}")
    if not fresh:
        tell_time(runs, results, processes)
    num_run = complete(name, runs, results=results, fresh=fresh, processes=processes, progress=progress)
    texts = records_of(runs, results, results / f"{name}_runs.csv" if methods or datasets else None)
    with whole_file(results / f"{name}_runs.csv", "w") as file:
        texts.to_csv(file, index=False)
    found = table(with_costs(as_numbers(texts)))
    with whole_file(results / f"{name}.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.6g")
    with whole_file(results / f"{name}.md", "w") as file:
        file.write(field_page.written(found, STREAMS, left_out))
    pictures = save(field_plots.trade_offs(found, field_page.titles(STREAMS)), results, name)
    pictures += save(field_plots.cases_won(found), results, f"{name}_won")
    if num_run:
        write_environment(results / f"environment{size.name}.json", [name, f"{name}_runs"], clock,
                          seeds=list(size.seeds), experiments=len(runs), experiments_run=num_run)
    print(f"\n{field_page.cases_won(found)}\n")
    for path in (*(results / f"{name}{ending}" for ending in (".csv", ".md", "_runs.csv")), *pictures):
        print(f"→ {path}")
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", dest="size", action="store_const", const=QUICK, default=FULL,
                       help="fewer streams, seeds, rows and λ; writes field_quick.*")
    sizes.add_argument("--tiny", dest="size", action="store_const", const=TINY, help="for tests: a few rows")
    parser.add_argument("--method", action="append", metavar="NAME", help="run this one alone, beside the results that "
                        "are there already; may be given several times")
    parser.add_argument("--dataset", action="append", metavar="NAME", help="run on the streams of this one alone; may "
                        "be one's own")
    parser.add_argument("--fresh", action="store_true", help="start over, also what is done already")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="at once; default: one a core")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args(arguments)
    if options.processes < 1:
        parser.error(f"--processes must be at least 1, got {options.processes}")
    try:
        make(options.size, options.results, methods=options.method, datasets=options.dataset,
             processes=options.processes, fresh=options.fresh)
    except (ArgumentError, OSError) as error:  # an unknown name; data that cannot be had; no room
        sys.exit(str(error))


if __name__ == "__main__":
    main()
