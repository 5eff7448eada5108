"""The service under load, and killed again and again: how long requests take, and that nothing is lost.

    python examples/service/load.py --seconds 120 --kills 10

This process starts the service as another one, asks it over a few connections that stay open, gives feedback later and
out of order, some of it twice, and kills the service with signal 9 at random moments.
"""

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

import learned_ids
from clients import Clients, ask
from first_model import first_model, people
from journal import Journal
from learner import Learner
from saves import load, state_of

APP = Path(__file__).with_name("app.py")


class Server:
    """The service in a process of its own, on a port that is free."""

    patience = 180  # seconds for a start: importing TensorFlow on a busy machine takes its time

    def __init__(self, folder, *options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = Path(folder)
        self.command = [sys.executable, "-W", "ignore", str(APP), "--folder", str(folder), "--port", str(self.port),
                        "--keep-journal", *options]

    def start(self):
        """Gives the seconds until it took requests."""
        began = time.monotonic()
        self.process = self.launch()
        while time.monotonic() < began + self.patience and self.process.poll() is None:
            try:
                if ask(self.port, "GET", "/health")[0] == 200:
                    return time.monotonic() - began
            except OSError:
                time.sleep(0.1)
        self.end(signal.SIGKILL)
        raise RuntimeError(f"the service did not start: {' '.join(self.command)}")

    def launch(self):
        return subprocess.Popen(self.command, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
                                stderr=subprocess.DEVNULL)

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait()

    def ids_on_disk(self):
        """What the folder says was learned: the last save, and the journal after it."""
        state = state_of(self.folder)
        later = [entry["id"] for entry in Journal(self.folder).entries(state["learner"]["offset"])]
        return [*learned_ids.read(self.folder, state["learned"]), *dict.fromkeys(later)]


def measure(rows, seconds, connections, kills, save_every=2000):
    """Both tests: dict of what was found."""
    with tempfile.TemporaryDirectory() as folder:
        server, clients = Server(folder, "--save-every", str(save_every)), None
        found = {"connections": connections, "seconds_to_start": server.start()}
        try:
            clients = Clients(server.port, rows, connections)
            found |= under_load(clients, seconds)
            found |= under_kills(server, clients, kills)
            server.end(signal.SIGTERM)
            learned = server.ids_on_disk()
            found |= {"acknowledged": len(clients.acknowledged), "learned": len(learned),
                      "lost": len(clients.acknowledged - set(learned)),
                      "learned_twice": len(learned) - len(set(learned)),
                      "same_bits_as_never_killed": same_as_fresh_replay(server.folder)}
        finally:
            if server.process.poll() is None:
                server.end(signal.SIGKILL)
    return found


def under_load(clients, seconds):
    """Latencies in milliseconds, and requests a second."""
    clients.run(seconds)
    times = {kind: 1000 * pd.Series(found) for kind, found in clients.times.items()}
    found = {"seconds": seconds, "requests": sum(map(len, times.values())),
             "requests_per_second": sum(map(len, times.values())) / seconds}
    for kind, taken in times.items():
        found |= {f"{kind}_p50_ms": taken.median(), f"{kind}_p99_ms": taken.quantile(0.99),
                  f"{kind}_max_ms": taken.max()}
    return found


def under_kills(server, clients, kills):
    """Kills the service under load and starts it again; whatever was acknowledged must be there each time."""
    moments, unanswered, starts = random.Random(0), 0, []
    for _ in range(kills):
        clients.begin()
        time.sleep(moments.uniform(0.5, 5))
        server.end(signal.SIGKILL)
        clients.end()
        starts.append(server.start())
        lost = clients.acknowledged - set(server.ids_on_disk())
        if lost:
            raise AssertionError(f"{len(lost)} acknowledged feedbacks are lost, such as {sorted(lost)[:3]}")
        unanswered += clients.send_unanswered_again()
    clients.run(1)
    clients.send_all_feedback()
    return {"kills": kills, "unanswered_and_sent_again": unanswered,
            "seconds_to_start_again": max(starts, default=float("nan"))}


def same_as_fresh_replay(folder):
    """Whether the last save is, bit for bit, what one learner makes of all entries that there ever were."""
    fresh, saved, journal = Learner(*first_model()), load(folder), Journal(folder)
    saves = {first for first, _ in journal.files()}
    for number, entry in enumerate(journal.entries(0)):
        if number in saves:  # where a model sums up its own metrics decides the last bits of these sums
            fresh.live.flush()
        fresh.take(entry)
    same = fresh.digest() == saved.digest()
    fresh.close()
    saved.close()
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120, help="of load without kills (%(default)s)")
    parser.add_argument("--connections", type=int, default=4, help="%(default)s")
    parser.add_argument("--kills", type=int, default=10, help="%(default)s")
    given = parser.parse_args()
    for name, value in measure(people().to_dict("records"), **vars(given)).items():
        print(f"{name:28} {value:,.2f}" if isinstance(value, float) else f"{name:28} {value:,}")


if __name__ == "__main__":
    main()
