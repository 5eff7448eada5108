"""The service of examples/service for an hour at full load, with drift, bad rows, saves and kills -> results/soak.csv.

    make soak            # an hour; QUICK=1: five minutes

Client processes ask and give feedback without a pause: late, out of order, twice, never; some of what they send is
wrong, and along the hour groups and labels drift and swap. The service is killed (signal 9) every few minutes, but for
the middle half of the time, in which one process lives on, so that its memory can be seen.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "service"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

from aranyani_tf.files import whole_file
from first_model import people
from harness.provenance import Clock, write_environment
from trials.soak_picture import draw
from trials.soak_run import soak
from trials.soak_service import SoakedServer
from trials.soak_verdict import verdict

MINUTES, KILLS = 60, 12
# So small that all of them are reached early, and the rest of the time shows what grows nevertheless. Between two
# audits fewer feedbacks must come than ids are remembered.
BOUNDS = {"save_every": 5_000, "max_pending": 2_000, "remember": 50_000}
QUICK_BOUNDS = {"save_every": 1_000, "max_pending": 500, "remember": 5_000}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="five minutes, to soak_quick.csv")
    parser.add_argument("--minutes", type=float, help="60, or 5 with --quick; fewer go to soak_quick.csv")
    parser.add_argument("--processes", type=int, default=2, help="of clients (%(default)s)")
    parser.add_argument("--connections", type=int, default=2, help="of each (%(default)s)")
    parser.add_argument("--kills", type=int, help="12, or 4 with --quick")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills (%(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER")
    options, clock = parser.parse_args(), Clock()
    minutes = options.minutes or (5 if options.quick else MINUTES)
    kills = options.kills if options.kills is not None else (4 if options.quick else KILLS)
    is_part = options.quick or minutes < MINUTES or kills < KILLS
    with tempfile.TemporaryDirectory() as folder:
        server = SoakedServer(Path(folder) / "state", **(QUICK_BOUNDS if options.quick else BOUNDS))
        records, problems = soak(Path(folder), server, people().to_dict("records"), 60 * minutes, options.processes,
                                 options.connections, kills, options.seed)
    name = "soak_quick" if is_part else "soak"
    options.results.mkdir(parents=True, exist_ok=True)
    with whole_file(options.results / f"{name}.csv", "w") as file:
        records.to_csv(file, index=False, float_format="%.6g")
    draw(records).savefig(options.results / f"{name}.png", dpi=120)
    if not is_part:
        write_environment(options.results / "environment.json", [name], clock, minutes=minutes, planned_kills=kills,
                          kills=int(records["kills"].iloc[-1]), processes=options.processes,
                          connections=options.connections, seed=options.seed)
    for problem in problems[:5]:
        print("not as it should be:", problem)
    found = verdict(records)
    print(found.to_string(index=False), f"\n→ {options.results / name}.csv, .png")
    sys.exit(0 if found["holds"].all() else "the soak has found something")


if __name__ == "__main__":
    main()
