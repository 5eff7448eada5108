"""The processes of a cluster that this program has started: their memory, and their end."""

import contextlib
import threading

import psutil

WORKERS = ("ray::called", "ray::SiteActor", "ray::IDLE")


def of_cluster():
    """Name → process, of all that Ray has started here."""
    for process in psutil.Process().children(recursive=True):
        try:
            yield process.name(), process
        except psutil.NoSuchProcess:
            continue


def memory():
    """Megabytes of Ray's own processes, and of a worker that has imported the package."""
    own, workers = 0.0, []
    for name, process in of_cluster():
        size = process.memory_full_info().pss / 2**20
        if name.startswith(WORKERS):
            workers.append(size)
        else:
            own += size
    return {"ray_megabytes": own, "worker_megabytes": max(workers)}


class Killer(threading.Thread):
    """Kills one worker that is at work, as soon as a condition holds."""

    def __init__(self, condition, worker="ray::called"):
        super().__init__(daemon=True)
        self.condition, self.worker, self.over, self.killed = condition, worker, threading.Event(), False

    def run(self):
        while not self.killed and not self.over.wait(0.01):
            if self.condition():
                self.kill_one()

    def kill_one(self):
        for name, process in of_cluster():
            if name.startswith(self.worker):
                with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                    process.kill()
                    self.killed = True
                    return

    def end(self):
        """Whether it has killed one; from now on it kills nobody."""
        self.over.set()
        self.join(timeout=60)
        return self.killed
