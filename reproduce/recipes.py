"""Recipes for `ar.recommended`, chosen with each dataset left out in turn -> results/recipes.csv, recipes.md."""

import quiet  # noqa: F401

import argparse
import sys
from pathlib import Path

import pandas as pd

from aranyani_tf.errors import ArgumentError
from aranyani_tf.files import whole_file
from harness import RESULTS, registry
from harness.field_runs import FieldRun
from harness.field_sizes import FULL, QUICK, TINY, Size
from harness.field_streams import FieldStream, here
from harness.options import add_workers, require_workers
from harness.parts import as_numbers, joined, part_of
from harness.provenance import Clock, write_environment
from harness.recipe_scores import NOTION, chosen_on_all, scores, written
from harness.recipes import SHIPPED, recipes
from harness.runner import complete
from harness.sums import note_sums

CLASSES = {"recommended": False, "recommended_by_group": True}  # method of the field → whether the group decides
SEEDS = 2


def plan(size: Size, streams: tuple[FieldStream, ...] | None = None) -> list[FieldRun]:
    """Every recipe of both classes on every stream that is here, all of them over all rows."""
    return [FieldRun(stream.dataset, registry.TARGETS, size.seeds[:SEEDS], preprocessing=stream.preprocessing,
                     groups=stream.groups, drop_group=stream.drop_group, method=name, rows=size.rows, told=(NOTION,),
                     knob_values=size.some(tuple(each.name for each in recipes(group_decides))), all_judged=True)
            for stream, reason in here(streams or size.streams).items() if not reason
            for name, group_decides in CLASSES.items()]


def make(size: Size, results: Path, *, streams: tuple[FieldStream, ...] | None = None, processes: int | None = 1,
         fresh: bool = False, progress: bool = True, ray: str | None = None) -> pd.DataFrame:
    """Runs what is missing, and writes the files; gives `recipes.csv`."""
    name, clock, runs = f"recipes{size.name}", Clock(), plan(size, streams)
    if not runs:
        raise ArgumentError("there is nothing to run: no stream of the field is here")
    num_run = complete(name, runs, results=results, fresh=fresh, processes=processes, progress=progress, ray=ray)
    records = as_numbers(joined([part_of(run, results) for run in runs]))
    records = records.rename(columns={"fairness_weight": "target", "knob_value": "recipe"}).assign(
        group_decides=records["method"].map(CLASSES), groups=records["groups"].astype(object).fillna(""))
    found = scores(records)
    with whole_file(results / f"{name}.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.6g")
    with whole_file(results / f"{name}.md", "w") as file:
        file.write(written(found))
    if not size.name:
        note_sums(results, [name])
    if num_run:
        write_environment(results / f"environment{size.name}.json", [name], clock, seeds=list(size.seeds[:SEEDS]),
                          experiments=len(runs), experiments_run=num_run)
    for group_decides in CLASSES.values():
        print(f"chosen on all datasets, {'group decides' if group_decides else 'group only learned from'}: "
              f"{chosen_on_all(found, group_decides).name}; shipped: {SHIPPED[group_decides].name}")
    for ending in (".csv", ".md"):
        print(f"→ {results / (name + ending)}")
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", dest="size", action="store_const", const=QUICK, default=FULL,
                       help="fewer streams, rows and recipes; writes recipes_quick.*")
    sizes.add_argument("--tiny", dest="size", action="store_const", const=TINY, help="for tests: a few rows")
    parser.add_argument("--fresh", action="store_true", help="start over, also what is done already")
    add_workers(parser)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args(arguments)
    require_workers(parser, options)
    try:
        make(options.size, options.results, processes=options.processes, fresh=options.fresh, ray=options.ray)
    except (ArgumentError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
