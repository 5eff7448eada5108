"""Bad input of every kind, 10,000 cases -> results/fuzz.csv: each has to succeed, or end with one of `ar.errors`."""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

from tqdm import tqdm

import aranyani_tf as ar
from harness.provenance import Clock
from trials.fuzz_all import SURFACES
from trials.fuzz_cases import ESCAPED, Outcome
from trials.fuzz_run import blocks, run_all, table
from trials.tables import place_of, write

CASES = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="%(default)s")
    parser.add_argument("--quick", action="store_true", help="a tenth of them")
    parser.add_argument("--seed", type=int, default=0, help="%(default)s")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="%(default)s")
    parser.add_argument("--only", metavar="SURFACE", choices=[each.name for each in SURFACES],
                        help=f"one of: {', '.join(each.name for each in SURFACES)}")
    parser.add_argument("--block", type=int, help="a single block of that surface, to see a bug again")
    parser.add_argument("--output", type=Path, metavar="FILE", help="results/fuzz.csv, or fuzz_quick.csv of a part")
    arguments, clock = parser.parse_args(), Clock()
    is_part = bool(arguments.quick or arguments.only or arguments.block is not None or arguments.cases < CASES)
    output = place_of("fuzz", is_part, arguments.output)
    ar.Aranyani(num_trees=1, height=1).predict_then_learn([[0.0], [1.0]], [0, 1], [0, 1])  # compiles the engine once
    chosen = [each for each in SURFACES if arguments.only in (None, each.name)]
    work = blocks(chosen, arguments.cases // (10 if arguments.quick else 1))
    if arguments.block is not None:
        work = [(surface, block, count) for surface, block, count in work if block == arguments.block]
    with tqdm(total=sum(count for *_, count in work), unit=" cases") as bar:
        def show(found: list[Outcome]) -> None:
            bar.update(len(found))
            for each in found:
                if each.kind == ESCAPED or each.changed:
                    tqdm.write(f"{each.surface}, {each.mutation}: {each.kind}{', changed' * each.changed}: "
                               f"{each.message}\n    {each.told[:600]}", file=sys.stderr)

        found = run_all(work, arguments.seed, arguments.cores, show)
    frame = table(found)
    write(frame, output, clock, is_part=is_part, cases=len(found), seed=arguments.seed)
    print(frame.drop(columns="example").groupby("surface", sort=False).sum(numeric_only=True).to_string())
    bugs = int((frame["escaped"] + frame["changed"]).sum())
    print(f"{len(found):,} cases, {bugs} bugs, {clock.seconds:.0f} s; written to {output}")
    return 1 if bugs else 0


if __name__ == "__main__":
    sys.exit(main())
