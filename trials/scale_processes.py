"""The processes of a cluster that this program has started: their memory, and their end."""

import time

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


def kill_when(condition, name="ray::called"):
    """Kills a worker that is at work, as soon as the condition holds."""
    while not condition():
        time.sleep(0.01)
    while True:
        for found, process in of_cluster():
            if found.startswith(name):
                process.kill()
                return
        time.sleep(0.01)
