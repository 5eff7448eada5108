"""A Ray cluster for as long as it is needed: one that runs already, or one that is started on this machine."""

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError

LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # Ray's only switch for it: without clusters nothing listens outside
QUIET = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}


def ray_module() -> Any:
    """Ray, or how to get it."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("this needs Ray: pip install 'aranyani_tf[ray]'") from error
    return ray


@contextlib.contextmanager
def cluster(address: str = "auto", cores: int | None = None) -> Iterator[int]:
    """Joins a cluster and gives the number of its cores; what it has started ends with it.

    A program that has called `ray.init` itself stays in the cluster that it is in. Environment and signal handlers of
    the program are afterwards as they were before.

    Args:
        address: "auto" is the cluster that runs on this machine or that RAY_ADDRESS names, or a new local one if there
            is none; "local" always a new one; else that of a cluster, such as "10.0.0.7:6379".
        cores: of a local cluster; those that this process may use if None.
    """
    if not isinstance(address, str) or not address:
        raise ArgumentError(f"ray must be 'auto', 'local' or the address of a cluster, got {address!r}")
    if cores is not None:
        require_whole("cores", cores, 1)
    with kept_environment():
        ray = ray_module()
    if ray.is_initialized():
        yield num_cores(ray)
        return
    with kept_handler():
        with kept_environment():
            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
            if address == "local" or not join(ray, address):
                start(ray, cores or own_cores())
        try:
            yield num_cores(ray)
        finally:
            with kept_environment():
                ray.shutdown()


def join(ray: Any, address: str) -> bool:
    """Whether there was a cluster to join; one that was named has to be there."""
    named = (os.environ.get("RAY_ADDRESS") or address) if address == "auto" else address
    try:
        host, _, port = named.rpartition(":")
        if port.isdigit() and "/" not in host:  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), timeout=5).close()
        ray.init(address=named, log_to_driver=False, logging_level="ERROR")
    except OSError as error:  # a ConnectionError is one
        if named == "auto":
            return False
        raise ArgumentError(f"no Ray cluster answers at {named!r}; start one by `ray start --head`, or use 'local' for "
                            "one of this program's own") from error
    return True


def start(ray: Any, cores: int) -> None:
    """A cluster of this program alone; it listens on loopback and asks nobody anything."""
    from ray._private import ray_constants

    os.environ[LOOPBACK] = "0"  # for Ray's processes
    os.environ.setdefault("RAY_worker_niceness", "0")  # as this process has it; Ray's own is 15
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # workers find what this program finds
    before, ray_constants.ENABLE_RAY_CLUSTER = ray_constants.ENABLE_RAY_CLUSTER, False  # for this one
    try:
        ray.init(address="local", num_cpus=cores, **QUIET)
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@contextlib.contextmanager
def kept_environment() -> Iterator[None]:
    """The program's environment, which Ray changes, is put back."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


@contextlib.contextmanager
def kept_handler() -> Iterator[None]:
    """So is its handler of SIGTERM, after the cluster: meanwhile Ray's ends the cluster with the program."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def num_cores(ray: Any) -> int:
    return max(int(ray.cluster_resources().get("CPU", 1)), 1)


def own_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_thread() -> None:
    """For a worker: more threads would get into each other's way. TensorFlow can be told before its first use only."""
    import tensorflow as tf

    if tf.config.threading.get_intra_op_parallelism_threads() != 1:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)


def own_error(error: BaseException) -> BaseException:
    """What was raised in another process, as it was raised there; Ray puts its own around it."""
    return getattr(error, "cause", None) or error
