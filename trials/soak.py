"""The service of examples/service for an hour at full load, with drift, bad rows, saves and kills -> results/soak.csv.

    make soak            # an hour; QUICK=1: five minutes

Client processes ask and give feedback without a pause: late, out of order, twice, never; some of what they send is
wrong, and along the hour groups and labels drift and swap. The service is killed (signal 9) every few minutes, but for
the middle half of the time, in which one process lives on, so that its memory can be seen.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "service"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quiet  # noqa: F401

import numpy as np
import pandas as pd
from tqdm import tqdm

from aranyani_tf.files import whole_file
from first_model import people
from harness.provenance import Clock, write_environment
from trials.soak_picture import draw
from trials.soak_service import ClientProcesses, SoakedServer
from trials.soak_verdict import verdict

LINES = 60  # of the table, and points of the picture
QUIET = (0.25, 0.75)  # of the time: no kills
# So small that all of them are reached early, and the rest of the time shows what grows nevertheless. Between two lines
# fewer feedbacks must come than ids are remembered.
BOUNDS = {"save_every": 5_000, "max_pending": 2_000, "remember": 50_000}
QUICK_BOUNDS = {"save_every": 1_000, "max_pending": 500, "remember": 5_000}
TOTALS = ("acknowledged", "never", "late", "sent_twice", "sent_with_row", "unanswered", "bad", "refused", "cut_off",
          "server_errors", "problems")


def soak(folder, server, rows, seconds, processes, connections, kills, seed):
    """The table, a line every sixtieth of the time, and what was not as it should be.

    Args:
        folder: for files of the clients.
        server: a `SoakedServer`.
    """
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    server.start()
    clients, run = None, None
    try:
        clients = ClientProcesses(processes, connections=connections, port=server.port, began=time.time(),
                                  seconds=seconds, rows=str(folder / "rows.json"))
        run = Soak(server, clients, seconds, moments(kills, seconds, seed))
        run.go_on()
        server.end(signal.SIGTERM)  # which saves
        run.last_audit()
    finally:
        if clients is not None:
            clients.end()
        if server.process.poll() is None:
            server.end(signal.SIGKILL)
    return pd.DataFrame(run.lines), run.problems


def moments(kills, seconds, seed):
    """When the service is killed: at random, in equal parts of the time that is not quiet."""
    chance = random.Random(seed)
    first, rest = QUIET[0], 1 - QUIET[1]
    places = [(number + chance.uniform(0.2, 0.8)) / kills * (first + rest) for number in range(kills)]
    return [seconds * (place if place < first else place - first + QUIET[1]) for place in places]


class Soak:
    """The run: waits, kills, looks and compares."""

    def __init__(self, server, clients, seconds, moments):
        self.server, self.clients, self.seconds, self.moments = server, clients, seconds, list(moments)
        self.began, self.lines, self.problems = time.monotonic(), [], []
        self.totals, self.kills = dict.fromkeys((*TOTALS, "lost", "twice"), 0), 0
        self.since = self.began  # of the counts and times that no line has yet
        self.counts, self.times = {}, {"predict": [], "feedback": []}

    @property
    def now(self):
        return time.monotonic() - self.began

    def go_on(self):
        """Until the clients have given all feedback that they owe."""
        step = self.seconds / LINES
        following = step
        with tqdm(total=round(self.seconds), unit="s", desc="soak", disable=None) as bar:
            while self.clients.are_running:
                time.sleep(min(0.2, step / 4))
                bar.update(min(round(self.now), bar.total) - bar.n)
                if self.moments and self.now >= self.moments[0]:
                    self.kill()
                if self.now >= following:
                    self.look()
                    following = step * (self.now // step + 1)
        self.look()

    def kill(self):
        """One kill; on a busy machine a start takes minutes, and kills that fall into it are left out."""
        self.server.end(signal.SIGKILL)
        self.kills += 1
        self.audit()
        self.server.start()
        self.moments = [moment for moment in self.moments if moment > self.now]

    def audit(self):
        """Everything that was acknowledged since the last time must be on the disk, once."""
        counts, acknowledged, times, problems = self.clients.take()  # before the disk is read
        known = self.server.known_ids()
        counts["acknowledged"] = len(acknowledged)
        self.totals["lost"] += len(set(acknowledged) - set(known))
        self.totals["twice"] += len(known) - len(set(known)) + len(acknowledged) - len(set(acknowledged))
        self.problems += problems
        for name, more in counts.items():
            self.counts[name] = self.counts.get(name, 0) + more
        for kind, taken in times.items():
            self.times[kind] += taken

    def look(self):
        """A line of the table."""
        self.audit()
        for name in TOTALS:
            self.totals[name] += self.counts.get(name, 0)
        now, counts = time.monotonic(), self.counts
        line = {"minute": (now - self.began) / 60, "kills": self.kills, "machine_load": os.getloadavg()[0]}
        line |= self.server.seen() | self.totals
        line["requests_per_second"] = counts.get("requests", 0) / (now - self.since)
        for kind, taken in self.times.items():
            middle, late = np.quantile(taken, (0.5, 0.99)) if taken else (np.nan, np.nan)
            line |= {f"{kind}_per_second": len(taken) / (now - self.since), f"{kind}_p50_ms": 1000 * middle,
                     f"{kind}_p99_ms": 1000 * late}
        line |= rates(counts)
        self.lines.append(line)
        self.since, self.counts, self.times = now, {}, {"predict": [], "feedback": []}

    def last_audit(self):
        """After the last save, by number: each id that was acknowledged was learned, and learned once."""
        self.audit()
        learned = self.server.num_learned()
        self.lines[-1]["learned"] = learned
        self.lines[-1]["lost"] += max(0, self.totals["acknowledged"] - learned)
        self.lines[-1]["twice"] += max(0, learned - self.totals["acknowledged"])


def rates(counts):
    """Of the decisions that were given since the last line, with or without feedback: accuracy, and gaps by group."""
    def gap(kind):
        shares = [counts.get(f"{kind} {group}", 0) / (counts.get(f"rows {group}") or np.nan)
                  for group in ("Male", "Female")]
        return shares[0] - shares[1]

    rows = counts.get("rows Male", 0) + counts.get("rows Female", 0)
    return {"rows": rows, "accuracy": counts.get("right", 0) / (rows or np.nan), "gap_given": abs(gap("decided")),
            "gap_of_labels": gap("rich")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="five minutes")
    parser.add_argument("--minutes", type=float, help="60, or 5 with --quick")
    parser.add_argument("--processes", type=int, default=2, help="of clients (%(default)s)")
    parser.add_argument("--connections", type=int, default=2, help="of each (%(default)s)")
    parser.add_argument("--kills", type=int, help="12, or 4 with --quick")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills (%(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER")
    options, clock = parser.parse_args(), Clock()
    minutes = options.minutes or (5 if options.quick else 60)
    kills = options.kills if options.kills is not None else (4 if options.quick else 12)
    with tempfile.TemporaryDirectory() as folder:
        server = SoakedServer(Path(folder) / "state", **(QUICK_BOUNDS if options.quick else BOUNDS))
        records, problems = soak(Path(folder), server, people().to_dict("records"), 60 * minutes, options.processes,
                                 options.connections, kills, options.seed)
    name = "soak_quick" if options.quick else "soak"
    options.results.mkdir(parents=True, exist_ok=True)
    with whole_file(options.results / f"{name}.csv", "w") as file:
        records.to_csv(file, index=False, float_format="%.6g")
    draw(records).savefig(options.results / f"{name}.png", dpi=120)
    if not options.quick:
        write_environment(options.results / "environment.json", [name], clock, minutes=minutes, kills=kills,
                          processes=options.processes, connections=options.connections, seed=options.seed)
    for problem in problems[:5]:
        print("not as it should be:", problem)
    found = verdict(records)
    print(found.to_string(index=False), f"\n→ {options.results / name}.csv, .png")
    sys.exit(0 if found["holds"].all() else "the soak has found something")


if __name__ == "__main__":
    main()
