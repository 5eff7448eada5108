"""Kills: of a program at random moments and while it writes, and of one worker of a figure alone."""

import os
import random
import signal
import threading
import time
from pathlib import Path

from trials.fault_cases import WRONG, Case, last_sentence
from trials.fault_processes import Fault

LATEST = 0.97  # of its time: one that is done cannot be killed
DELAY = 0.02  # seconds that writing goes on, at most


def kills(subject, count, seed):
    """Half of them by the clock, half at one of the moments at which something on the disk is changed."""
    chance, timed = random.Random(f"{seed} {subject.name}"), (count + 1) // 2
    for part in range(timed):
        yield by_clock(subject, LATEST * (part + chance.random()) / timed)
    for part in range(count - timed):
        change = int(subject.changes * (part + chance.random()) / (count - timed))
        yield at_change(subject, change, chance.choice((0.0, DELAY * chance.random())))


def by_clock(subject, share):
    def happen(folder):
        return killed(subject, folder, Fault(seconds=share * subject.seconds))
    return Case(subject.name, "killed", f"after {share * subject.seconds:.2f} s", happen)


def at_change(subject, change, delay):
    def happen(folder):
        return killed(subject, folder, Fault(change=change, delay=delay))
    when = f"{1000 * delay:.1f} ms after" if delay else "at"
    return Case(subject.name, "killed", f"{when} change {change + 1} of {subject.changes} to its folder", happen)


def killed(subject, folder, fault):
    ended = subject.program.run(folder, fault)
    outcome, detail = subject.judged(folder)
    if ended.status == -signal.SIGKILL:
        return outcome, detail
    if not ended.good:
        return WRONG, f"ended with {ended.status} before the kill: {ended.said[-200:]}"
    return outcome, f"{detail} it had come to its end just before".strip()


def worker_kills(subject, count, seed):
    chance = random.Random(f"{seed} worker")
    for part in range(count):
        yield one_worker(subject, (part + chance.random()) / count, chance)


def one_worker(subject, share, chance):
    seconds = 0.8 * share * subject.seconds

    def happen(folder):
        """Some of its workers live for a part of the time only."""
        running, hit = subject.program.start(folder), threading.Event()

        def kill():
            time.sleep(seconds)
            while running.is_alive() and not hit.is_set():
                workers = children_of(running.process.pid)
                if workers:
                    os.kill(chance.choice(workers), signal.SIGKILL)
                    hit.set()
                time.sleep(0.005)

        thread = threading.Thread(target=kill)
        thread.start()
        status = running.end()
        thread.join()
        complaint = last_sentence(running.said)
        if not hit.is_set():
            return subject.judged(folder)[0], "its workers had ended before"
        if status != 0 and ("Traceback" in running.said or "the others are kept" not in complaint):
            return WRONG, f"ended with {status}: {complaint}"
        outcome, detail = subject.judged(folder)
        return outcome, f"{detail} {complaint}".strip()
    return Case(subject.name, "a worker killed", f"after {seconds:.2f} s", happen)


def children_of(process):
    """The processes that a process has started and that still live."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return sorted({int(each) for task in tasks for each in (task / "children").read_text().split()})
    except OSError:
        return []
