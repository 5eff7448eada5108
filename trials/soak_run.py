"""The run of a soak: it waits, kills, looks, and compares what was acknowledged with what is on the disk."""

import json
import os
import random
import signal
import time
from collections import Counter

import numpy as np
import pandas as pd
from tqdm import tqdm

from trials.soak_service import ClientProcesses

LINES = 60  # of the table, and points of the picture
AUDITS = 3  # for each line
QUIET = (0.25, 0.75)  # of the time: no kills
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
    except Exception as error:  # what was seen until then is kept, and does not pass
        if run is None or not run.lines:
            raise
        run.fail(error)
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
        self.planned = {"planned_minutes": seconds / 60, "planned_kills": len(self.moments)}
        self.began, self.lines, self.problems, self.doubles = time.monotonic(), [], [], set()
        self.totals, self.kills = dict.fromkeys((*TOTALS, "lost", "twice"), 0), 0
        self.since = self.began  # of the counts and times that no line has yet
        self.counts, self.times = {}, {"predict": [], "feedback": []}

    @property
    def now(self):
        return time.monotonic() - self.began

    def go_on(self):
        """Until the clients have given all feedback that they owe."""
        part, done = self.seconds / LINES / AUDITS, 0
        with tqdm(total=round(self.seconds), unit="s", desc="soak", disable=None) as bar:
            while self.clients.are_running:
                time.sleep(min(0.2, part / 2))
                bar.update(min(round(self.now), bar.total) - bar.n)
                if self.moments and self.now >= self.moments[0]:
                    self.kill()
                following = int(self.now // part)
                if following > done:
                    self.look() if following // AUDITS > done // AUDITS else self.audit()
                    done = int(self.now // part)
        self.tell(self.clients.failures())
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
        if len(acknowledged) > self.server.remember:
            raise RuntimeError(f"{len(acknowledged):,} feedbacks were acknowledged between two audits, and the service "
                               f"remembers {self.server.remember:,} ids, so that nobody can tell whether one was lost; "
                               "audit more often, or let it remember more")
        known = self.server.known_ids()
        counts["acknowledged"] = len(acknowledged)
        self.totals["lost"] += len(set(acknowledged) - set(known))
        self.doubles |= {key for keys in (known, acknowledged) for key, times in Counter(keys).items() if times > 1}
        self.totals["twice"] = len(self.doubles)  # the same ids are on the disk at the next audit, too
        self.problems += problems
        for name, more in counts.items():
            self.counts[name] = self.counts.get(name, 0) + more
        for kind, taken in times.items():
            self.times[kind] += taken

    def tell(self, problems):
        """Problems that no client has counted."""
        self.problems += problems
        self.totals["problems"] += len(problems)

    def fail(self, error):
        """The trial itself has failed: the last line says that something is wrong."""
        self.tell([f"the soak ended by {type(error).__name__}: {error}"])
        self.lines[-1]["problems"] = self.totals["problems"]

    def add_up(self):
        for name in TOTALS:
            self.totals[name] += self.counts.get(name, 0)

    def look(self):
        """A line of the table."""
        self.audit()
        self.add_up()
        now, counts = time.monotonic(), self.counts
        line = {"minute": (now - self.began) / 60, "kills": self.kills, "machine_load": os.getloadavg()[0]}
        line |= self.planned
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
        self.add_up()
        learned, acknowledged = self.server.num_learned(), self.totals["acknowledged"]
        self.totals["lost"] = max(self.totals["lost"], acknowledged - learned)
        self.totals["twice"] = max(self.totals["twice"], learned - acknowledged)
        self.lines[-1] |= {"learned": learned, **self.totals}


def rates(counts):
    """Of the decisions that were given since the last line, with or without feedback: accuracy, and gaps by group."""
    def gap(kind):
        shares = [counts.get(f"{kind} {group}", 0) / (counts.get(f"rows {group}") or np.nan)
                  for group in ("Male", "Female")]
        return shares[0] - shares[1]

    rows = counts.get("rows Male", 0) + counts.get("rows Female", 0)
    return {"rows": rows, "accuracy": counts.get("right", 0) / (rows or np.nan), "gap_given": abs(gap("decided")),
            "gap_of_labels": gap("rich")}
