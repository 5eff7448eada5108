"""The field: every method on every stream at the gap that one needs -> results/field.csv, field.md, pictures."""

import quiet  # noqa: F401

import argparse
import sys
from pathlib import Path

import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.files import whole_file
from harness import RESULTS, field_page, field_plots, registry
from harness.field_pairs import OURS
from harness.field_runs import FieldRun, cannot
from harness.field_sizes import FULL, QUICK, TINY, Size
from harness.field_streams import STREAMS, FieldStream, chosen, here
from harness.field_table import STREAM, as_numbers, table, with_costs
from harness.options import add_workers, require_workers
from harness.parts import is_whole, joined, part_of
from harness.plots import save
from harness.provenance import Clock, write_environment
from harness.recipes import told_without
from harness.runner import complete
from harness.sums import note_sums


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
                           rule=how.rule, groups=stream.groups, drop_group=stream.drop_group, rows=size.rows,
                           told=how.notions, knob_values=size.some(how.values_for(stream.dataset)))
            reason = cannot(how, run.stream(), registry.NOTIONS[0])
            if reason:
                left_out.append(f"{how.label} on {stream.title}: {reason}")
            else:
                runs.append(run)
    seen = told_without([run.dataset for run in runs if run.method in OURS.values()
                         and any(run.dataset == each.dataset for each in STREAMS)])
    return runs, [*left_out, *([seen] if seen else [])]


def records_of(runs: list[FieldRun], results: Path, earlier: Path | None) -> pd.DataFrame:
    """The records of these runs, and of an earlier file those that no run has made anew."""
    new = joined([part_of(run, results) for run in runs])
    if earlier is not None and earlier.is_file():
        old = pd.read_csv(earlier, dtype=str, keep_default_na=False)
        if set(old) != set(new):
            raise ArgumentError(f"{earlier.name} is of another version: run the field once without naming a method or "
                                "dataset")
        made = set(map(tuple, new[[*STREAM, "method"]].to_numpy()))
        is_old = [key not in made and key[-1] in registry.methods()
                  for key in map(tuple, old[[*STREAM, "method"]].to_numpy())]
        new = pd.concat([old[is_old], new], ignore_index=True)
    places = {tuple(map(str, each.key)): index for index, each in enumerate(STREAMS)}
    order = pd.DataFrame({"stream": [places.get(key, 99) for key in map(tuple, new[STREAM].to_numpy())],
                          "method": new["method"].map(list(registry.methods()).index).to_numpy()})
    return new.iloc[order.sort_values(["stream", "method"], kind="stable").index].reset_index(drop=True)


def tell_time(runs: list[FieldRun], results: Path, processes: int | None) -> None:
    """About how long what is missing will take."""
    missing = [run for run in runs if not is_whole(part_of(run, results))]
    seconds, told = sum(run.cost for run in missing) / (processes or 1), f"{processes} processes" if processes else (
        "one core, divided by those of the cluster")
    print(f"{len(runs)} runs of a method over a stream, {len(missing)} of them to be made: about "
          f"{max(seconds / 60, 1):.0f} minutes with {told}", flush=True)


def make(size: Size, results: Path, *, methods: list[str] | None = None, datasets: list[str] | None = None,
         processes: int | None = 1, fresh: bool = False, progress: bool = True,
         ray: str | None = None) -> pd.DataFrame:
    """Runs what is missing, and writes all files; gives `field.csv`."""
    name, clock = f"field{size.name}", Clock()
    runs, left_out = plan(size, methods, chosen(datasets) if datasets else None)
    if not runs:
        raise ArgumentError(f"there is nothing to run: {'; '.join(left_out)}")
    for each in left_out:
        print(each)
    if not fresh:
        tell_time(runs, results, processes)
    num_run = complete(name, runs, results=results, fresh=fresh, processes=processes, progress=progress, ray=ray)
    some = [*(methods or []), *(datasets or [])]  # beside which the rest of the file stays, and of what it tells
    if some:
        left_out = [*dict.fromkeys([*plan(size)[1], *left_out])]
    texts = records_of(runs, results, results / f"{name}_runs.csv" if some else None)
    with whole_file(results / f"{name}_runs.csv", "w") as file:
        texts.to_csv(file, index=False)
    found = table(with_costs(as_numbers(texts)))
    with whole_file(results / f"{name}.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.6g")
    with whole_file(results / f"{name}.md", "w") as file:
        file.write(field_page.written(found, STREAMS, left_out))
    pictures = save(field_plots.trade_offs(found, field_page.titles(STREAMS)), results, name)
    pictures += save(field_plots.cases_won(found), results, f"{name}_won")
    if not size.name:
        note_sums(results, [name, f"{name}_runs"])
    if num_run:
        write_environment(results / f"environment{size.name}.json", [name, f"{name}_runs"], clock,
                          seeds=list(size.seeds), experiments=len(runs), experiments_run=num_run,
                          **({"only": some} if some else {}))
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
    add_workers(parser)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args(arguments)
    require_workers(parser, options)
    try:
        make(options.size, options.results, methods=options.method, datasets=options.dataset,
             processes=options.processes, fresh=options.fresh, ray=options.ray)
    except (ArgumentError, OSError) as error:  # an unknown name; data that cannot be had; no room
        sys.exit(str(error))


if __name__ == "__main__":
    main()
