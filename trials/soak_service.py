"""The service of a soak, seen from outside: its process, its folder, and what its clients tell."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

from aranyani_tf.errors import DamagedFileError
from clients import ask
from feedback_queue import MOST
from load import Server
from saves import state_of

MB = 1e6
FILES = {"journal_mb": ("journal-*",), "saves_mb": ("model-*", "state.json"), "ids_mb": ("learned*",),
         "predictions_mb": ("predictions*", ".part-*-predictions*")}
NOTHING = {"counts": {}, "acknowledged": [], "times": {"predict": [], "feedback": []}, "problems": []}


class SoakedServer(Server):
    """The service as users start it: warnings are warnings, the journal is cut. Arguments are those of `Service`."""

    patience = 900  # the hour shall not fail for what else the machine has to do

    def __init__(self, folder, save_every, max_pending, remember):
        super().__init__(folder, "--save-every", str(save_every), "--max-pending", str(max_pending), "--remember",
                         str(remember))
        self.command = [part for part in self.command if part not in ("-W", "ignore", "--keep-journal")]
        self.num_starts, self.started = 0, None
        self.remember = remember
        # A line of journal and predictions has up to 0.6 kB, one of ids up to 25 bytes with its check sum; predictions
        # are written anew beside their file; two saves of up to 0.5 MB at a time.
        self.allowed_mb = (600 * (save_every + MOST + 3 * max_pending) + 25 * (2 * remember + save_every)) / MB + 1

    def start(self):
        seconds = super().start()
        self.num_starts, self.started = self.num_starts + 1, time.monotonic()
        return seconds

    def seen(self):
        """Memory and files of the process, and what it says of itself."""
        process = psutil.Process(self.process.pid)
        status = ask(self.port, "GET", "/status")[1]
        now = status["now"]
        return {"life": self.num_starts, "life_seconds": time.monotonic() - self.started,
                "resident_mb": process.memory_info().rss / MB, "open_files": process.num_fds(),
                "threads": process.num_threads(), "learned": now["learned"], "pending": status["pending"],
                "dropped": status["dropped"], "alarms": len(status["alarms"]), "gap": now["gap"],
                "gap_low": now["low"], "gap_high": now["high"], "recent_gap": now["recent_gap"],
                "target": status["target"], "limit": status["limit"],
                "fairness_weight": now["fairness_weight"], **self.disk()}

    def disk(self):
        """Megabytes by kind; a file that is just being removed has none."""
        def size(path):
            try:
                return path.stat().st_size / MB
            except FileNotFoundError:
                return 0.0

        found = {kind: sum(size(path) for pattern in patterns for path in self.folder.glob(pattern))
                 for kind, patterns in FILES.items()}
        return found | {"disk_mb": sum(map(size, self.folder.iterdir())), "disk_allowed_mb": self.allowed_mb}

    def num_learned(self):
        """As the last save has it."""
        return state_of(self.folder)["learner"]["num_learned"]

    def known_ids(self):
        """What the folder says was learned, also while the service writes to it: then once more, until it holds."""
        for _ in range(50):
            try:
                before = state_of(self.folder)["learner"]["offset"]
                found = self.ids_on_disk()
                if state_of(self.folder)["learner"]["offset"] == before:
                    return found
            except (FileNotFoundError, DamagedFileError, json.JSONDecodeError):
                pass  # a save came between, or half a line is written
            time.sleep(0.05)
        raise RuntimeError(f"{self.folder} could not be read in peace")


class ClientProcesses:
    """Client processes, and the sum of what they told since the last `take`."""

    def __init__(self, number, **given):
        script = str(Path(__file__).with_name("soak_client.py"))
        self.lock, self.told = threading.Lock(), []
        self.processes = [subprocess.Popen([sys.executable, script, json.dumps({"name": f"{each}", **given})],
                                           stdout=subprocess.PIPE, text=True) for each in range(number)]
        self.threads = [threading.Thread(target=self.read, args=(each.stdout,), daemon=True) for each in self.processes]
        for thread in self.threads:
            thread.start()

    def read(self, lines):
        for line in lines:
            try:
                told = json.loads(line)
            except ValueError:  # half a line of one that was killed, say
                told = NOTHING | {"counts": {"problems": 1}, "problems": [f"a client said {line[:300]!r}"]}
            with self.lock:
                self.told.append(told)

    def take(self):
        """Counts, acknowledged ids, times in seconds by kind, and problems."""
        with self.lock:
            told, self.told = self.told, []
        counts = Counter()
        for each in told:
            counts.update(each["counts"])
        acknowledged = [key for each in told for key in each["acknowledged"]]
        times = {kind: [taken for each in told for taken in each["times"][kind]] for kind in ("predict", "feedback")}
        return counts, acknowledged, times, [problem for each in told for problem in each["problems"]]

    def failures(self):
        """Of processes that have told all: those that ended in another way than they should."""
        return [f"client process {number} ended with status {status}" for number, process in enumerate(self.processes)
                if (status := process.wait(timeout=60))]

    @property
    def are_running(self):
        return any(thread.is_alive() for thread in self.threads)

    def end(self):
        """At once, if something went wrong."""
        for process in self.processes:
            process.kill()
            process.wait()
