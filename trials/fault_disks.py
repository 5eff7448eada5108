"""A disk that is full, and caches that are gone."""

import contextlib
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from aranyani_tf.datasets.bank import MEMBER, PACKAGE
from aranyani_tf.embeddings.cache import cache_folder
from trials.fault_cases import SAME, WRONG, Case, Subject, last_sentence
from trials.fault_processes import FILLER, Fault, Fresh, fill
from trials.fault_programs import DatasetRun

SMALL = "16m"  # the disk; a figure wants 4 MB of room before it begins
OFFLINE, ONE_AT_A_TIME = {"PIP_NO_INDEX": "1"}, threading.Lock()  # who changes a file that others read, too


@contextlib.contextmanager
def mounted(folder, options=f"size={SMALL}"):
    """A disk of its own at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def can_mount():
    with tempfile.TemporaryDirectory() as folder:
        try:
            with mounted(Path(folder) / "disk"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def full_disks(subject, shares):
    """From one of its changes on no byte can be written; then there is room again."""
    for share in shares:
        change = int(share * subject.changes)
        yield Case(subject.name, "disk full" if can_mount() else "file size limited",
                   f"from change {change + 1} of {subject.changes} to its folder on",
                   lambda folder, change=change: filled(subject, folder, change))


def filled(subject, folder, change):
    if not can_mount():
        running = subject.program.run(folder, Fault(change=change, most_bytes=1000))
        return after_full(subject, folder, running)
    with mounted(folder):
        running = subject.program.run(folder, Fault(change=change, fills=True))
        (folder / FILLER).unlink(missing_ok=True)
        return after_full(subject, folder, running)


def after_full(subject, folder, running):
    """What it said, and what the next run makes of it."""
    said = running.refusal or last_sentence(running.said)
    if "Traceback" in running.said:
        return WRONG, f"a traceback: {said}"
    if not running.good:
        if not any(words in said for words in ("No space left", "File too large")):
            return WRONG, f"ended with {running.status}: {said}"
        if running.refusal is None and str(folder) not in said and "said.csv" not in said and "model.keras" not in said:
            return WRONG, f"it does not say which file: {said}"
    outcome, detail = subject.judged(folder)
    return outcome, f"{detail} {'it came to its end nevertheless' if running.good else said}".strip()


def full_from_the_beginning(subject):
    def happen(folder):
        if not can_mount():
            return filled(subject, folder, 0)
        with mounted(folder):
            fill(folder)
            outcome, detail = subject.judged(folder, names=("No space left", str(folder)),
                                             repair=(folder / FILLER).unlink)
            return outcome, detail if outcome != SAME else "it came to its end nevertheless"
    return Case(subject.name, "disk full" if can_mount() else "file size limited", "from the beginning", happen)


def caches(figure, sweep, command, work):
    """A run is killed half way, a cache is removed, and it goes on."""
    for subject in (figure, sweep):
        yield Case(subject.name, "cache removed", "results/.parts", lambda folder, subject=subject: without(
            subject, folder, lambda: shutil.rmtree(folder / ".parts")))
    yield Case(command.name, "cache removed", "the compiled engine", lambda folder: without(
        command, folder, lambda: None, Fault(environment={"NUMBA_CACHE_DIR": str(work / "engine")}), Fresh))
    yield from packaged_data(work)


def without(subject, folder, remove, fault=None, kind=None):
    subject.program.run(folder, Fault(change=int(0.6 * subject.changes)))
    remove()
    return subject.judged(folder, fault=fault, kind=kind)


def packaged_data(work):
    """Of the datasets that come out of a package the one that takes least; where it was never fetched there is none."""
    kept = cache_folder("packages") / PACKAGE[0].replace("==", "-") / MEMBER[0]
    if not kept.is_file():
        return
    own = work / "data" / kept.relative_to(cache_folder("packages").parent)
    own.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(kept, own)
    bank = Subject(DatasetRun(work / "shared", "bank", ARANYANI_CACHE=str(work / "data")), work / "bank")
    yield Case(bank.name, "cache removed", "the dataset bank", lambda folder: changed(bank, folder, own, own.unlink))
    yield Case(bank.name, "a byte flipped", "the dataset bank in its cache", lambda folder: changed(
        bank, folder, own, lambda: own.write_bytes(own.read_bytes()[:-1] + b"\0")))


def changed(bank, folder, file, change):
    """Without a network it cannot be fetched again: that is told, and a copy does."""
    with ONE_AT_A_TIME:
        content = file.read_bytes()
        change()
        try:
            return bank.judged(folder, names=("could not be fetched", "package index"),
                               fault=Fault(environment=OFFLINE), repair=lambda: file.write_bytes(content))
        finally:
            file.write_bytes(content)
