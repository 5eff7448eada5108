"""What is left of a run after a fault: kills, full disks, lost caches, flipped bytes -> results/faults.csv.

A figure, a sweep, `aranyani run` and the service of examples/service are disturbed, and then go on. Either they end
with the bytes of a run that nobody disturbed ("same bytes"), or they say which file is damaged and what to do, and
that done end with these bytes ("told"). Whatever else comes out is "WRONG", and the script ends with status 1.
"""

import argparse
import itertools
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "service"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import pandas as pd
from tqdm import tqdm

from harness.provenance import Clock
from trials import fault_disks, fault_flips, fault_kills, fault_others
from trials.fault_cases import WRONG, Subject
from trials.fault_programs import CommandRun, FigureRun, SweepRun
from trials.fault_service import ServiceRun
from trials.tables import place_of, write

PROGRAMS = (FigureRun, SweepRun, CommandRun, ServiceRun)
KILLS = 12  # of each, and one more of the figure and of the service: fifty


def cases(work, seed):
    """Everything that is tried; the undisturbed runs come first."""
    subjects = [Subject(program(work / "shared"), work / program.name, warm=True) for program in PROGRAMS]
    figure, sweep, command, service = subjects
    yield from itertools.chain.from_iterable(zip(*(
        list(fault_kills.kills(subject, KILLS, seed)) for subject in subjects), strict=True))
    yield from fault_kills.kills(figure, 1, seed + 1)
    yield from fault_kills.kills(service, 1, seed + 1)
    yield from fault_kills.worker_kills(figure, 3, seed)
    for subject in (figure, sweep):
        yield fault_disks.full_from_the_beginning(subject)
    for subject in subjects:
        yield from fault_disks.full_disks(subject, (0.35, 0.8))
    yield from fault_disks.caches(figure, sweep, command, work)
    yield from fault_flips.in_figure(figure, seed)
    yield from fault_flips.in_run(command, work, seed, 6)
    yield from fault_flips.in_service(service, work, seed, 2)
    yield from fault_flips.in_shipped_data(work, seed)
    yield from fault_flips.in_embeddings(work, seed)
    yield from fault_flips.in_results(work, seed)
    for subject, names in ((figure, None), (sweep, None), (command, ("another run", "model.keras")),
                           (service, ("another service",))):
        yield fault_others.together(subject, names)
    yield from fault_others.tracking(figure, work)


def few_cases(work, seed):
    """The same in half a minute: two programs, one fault of a kind."""
    sweep, command = (Subject(program(work / "shared"), work / program.name) for program in (SweepRun, CommandRun))
    for subject in (sweep, command):
        yield from fault_kills.kills(subject, 2, seed)
    yield from fault_disks.full_disks(command, (0.5,))
    yield from fault_flips.in_run(command, work, seed, 1)


def tried(found, work, at_once):
    """The rows of all cases, in their order; several are tried at once, while the next are prepared."""
    with ThreadPoolExecutor(at_once) as pool:
        rows = [pool.submit(case.row, work / f"case {number}") for number, case in enumerate(found)]
        bar = tqdm(rows, desc="faults", unit="case")
        for row in bar:
            told = row.result()
            if told["outcome"] == WRONG:
                bar.write(f"{told['program']}, {told['fault']}, {told['case']}: {told['detail']}")
        return pd.DataFrame([row.result() for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few cases of two programs, under a minute")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and the bytes (%(default)s)")
    parser.add_argument("--only", metavar="WORDS", help="cases whose program, fault or name has these words")
    parser.add_argument("--at-once", type=int, default=os.cpu_count(), help="cases; default: one a core")
    parser.add_argument("--output", type=Path, metavar="FILE", help="results/faults.csv, or faults_quick.csv")
    options, clock = parser.parse_args(), Clock()
    is_part = bool(options.quick or options.only)
    output = place_of("faults", is_part, options.output)
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        found = (few_cases if options.quick else cases)(Path(folder), options.seed)
        if options.only:
            found = [case for case in found if options.only in f"{case.program} {case.fault} {case.name}"]
        table = tried(found, Path(folder), options.at_once)
    write(table, output, clock, is_part=is_part, seed=options.seed)
    print(table.drop(columns="detail").to_string(index=False))
    counts = table["outcome"].value_counts()
    print(", ".join(f"{count} {name}" for name, count in counts.items()), f"\n→ {output}")
    sys.exit(1 if WRONG in counts else 0)


if __name__ == "__main__":
    main()
