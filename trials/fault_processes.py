"""Processes that something happens to: killed at a moment or at a write, on a disk that fills up, within a limit.

All but those that say so are forked from a server that has imported the package and the figures, so that moments are
moments of their work, not of importing. A figure's own workers are forked likewise.
"""

import errno
import functools
import multiprocessing
import os
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
# What the programs import; a figure asks for every method there is.
PRELOADED = ["aranyani_tf", "aranyani_tf.command.main", "harness.figure", "sweeps", "uvicorn", "starlette.applications",
             *(f"methods.{path.stem}" for path in (ROOT / "reproduce" / "methods").glob("[!_]*.py")),
             "trials.fault_processes"]
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.rename", "os.remove", "os.truncate", "os.mkdir")
FILLER = "filler"


@dataclass(frozen=True)
class Fault:
    """What happens to a process.

    Args:
        seconds: after which it is killed, from outside.
        change: the number of the change to its folder, from 0, at which it is killed: a file that is about to be
            opened for writing, renamed, removed or cut.
        delay: seconds between that change and the kill, so that it also comes while bytes are written.
        fills: whether the disk is full from that change on, in the kill's place.
        most_bytes: that a file may have from that change on, where no small disk can be mounted.
        feedbacks: after which the service is killed.
        environment: variables.
    """

    seconds: float | None = None
    change: int | None = None
    delay: float = 0.0
    fills: bool = False
    most_bytes: int | None = None
    feedbacks: int | None = None
    environment: dict = field(default_factory=dict)


class Running:
    """`python arguments` in a folder as a process that was forked, and what becomes of it."""

    def __init__(self, arguments, folder, fault=None):
        self.fault, self.folder = fault or Fault(), Path(folder)
        self.notes = Path(tempfile.mkdtemp(prefix=f"{self.folder.name}-notes-", dir=self.folder.parent))
        self.refusal, self.began = None, time.monotonic()
        self.arguments = list(map(str, arguments))
        self.begin(self.arguments)
        if self.fault.seconds is not None:
            threading.Thread(target=self.kill_later, daemon=True).start()

    def begin(self, arguments):
        self.process = context().Process(target=become, args=(arguments, self.folder, self.notes, self.fault))
        self.process.start()

    def kill_later(self):
        time.sleep(max(self.began + self.fault.seconds - time.monotonic(), 0))
        self.signal(signal.SIGKILL)

    def signal(self, number):
        if self.is_alive():
            os.kill(self.process.pid, number)

    def is_alive(self):
        return self.process.is_alive()

    def end(self):
        """Waits for its end; gives the exit status."""
        self.process.join()
        return self.process.exitcode

    @property
    def said(self):
        """All that it wrote to standard output and to standard error."""
        return (self.notes / "said").read_text(encoding="utf-8", errors="replace")

    @property
    def changes(self):
        """How often it has changed something in its folder, or was about to."""
        path = self.notes / "changes"
        return int(path.read_text() or 0) if path.is_file() else 0


class Fresh(Running):
    """The same by an interpreter of its own, whose workers are too."""

    def begin(self, arguments):
        with open(self.notes / "said", "wb") as file:
            self.process = subprocess.Popen([sys.executable, *arguments], cwd=self.folder, stdout=file,
                                            stderr=subprocess.STDOUT, env=os.environ | self.fault.environment)

    def is_alive(self):
        return self.process.poll() is None

    def end(self):
        return self.process.wait()


@functools.cache
def context():
    """Of multiprocessing, with the server running."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(PRELOADED)
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, sys.path))):  # where the server will look
        forkserver.ensure_running()
    return found


def become(arguments, folder, notes, fault):
    """What such a process does."""
    with open(notes / "said", "wb") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    os.environ.update(fault.environment)
    os.chdir(folder)
    fork = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda method=None: fork
    Changes(folder, notes / "changes", fault)
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).parent))
    runpy.run_path(arguments[0], run_name="__main__")


class Changes:
    """Counts what this process is about to do to a folder, and lets the fault happen at one of these moments."""

    def __init__(self, folder, count, fault):
        self.folder, self.fault, self.number, self.process = str(folder), fault, 0, os.getpid()
        self.count = os.open(count, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.due = threading.Event()
        threading.Thread(target=self.kill, daemon=True).start()
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if os.getpid() != self.process or not self.is_change(event, arguments):
            return
        self.number += 1
        os.pwrite(self.count, str(self.number).encode(), 0)
        if self.number - 1 != self.fault.change:
            return
        if self.fault.fills:
            fill(Path(self.folder))
        elif self.fault.most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.fault.most_bytes, resource.RLIM_INFINITY))
        elif self.fault.delay:
            self.due.set()
        else:
            os.kill(self.process, signal.SIGKILL)

    def is_change(self, event, arguments):
        if event == "open":
            return isinstance(arguments[2], int) and bool(arguments[2] & WRITING) and self.is_inside(arguments[0])
        return event in CHANGES and self.is_inside(arguments[0])

    def is_inside(self, path):
        return isinstance(path, (str, os.PathLike)) and os.path.abspath(path).startswith(self.folder + os.sep) and (
            os.path.basename(path) != FILLER)

    def kill(self):
        self.due.wait()
        time.sleep(self.fault.delay)
        os.kill(self.process, signal.SIGKILL)


def fill(folder):
    """Leaves no byte on the folder's disk."""
    with open(folder / FILLER, "wb", buffering=0) as file:
        for size in (2**16, 2**12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
