"""Ray as a `concurrent.futures.Executor`: calls go to the cores of a cluster, and again if a worker was killed."""

import contextlib
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Executor, Future
from typing import Any

from aranyani_tf.arguments import require_whole
from aranyani_tf.scale.cluster import cluster, one_thread, own_error, ray_module

RETRIES = 5  # times that a call is made again whose worker was killed; then its memory is likely too small


class RayExecutor(Executor):
    """Calls of functions on the cores of a Ray cluster, one thread each.

    As a `ProcessPoolExecutor`, but a worker that dies is replaced and its call made again, on another machine if need
    be. So functions must be such that a second call gives what the first would have given.

    Args:
        address: as of `cluster`.
        workers: at once, at most; of a local cluster also its cores. All cores of the cluster if None.

    ```python
    with RayExecutor("auto") as pool:
        print(sum(pool.map(pow, range(10), range(10))))
    ```
    """

    def __init__(self, address: str = "auto", workers: int | None = None) -> None:
        if workers is not None:
            require_whole("workers", workers, 1)
        self.ending = contextlib.ExitStack()
        self.num_cores = self.ending.enter_context(cluster(address, workers))
        ray = self.ray = ray_module()
        share = share_of(self.num_cores, workers)
        self.num_workers = self.num_cores // share
        self.call = ray.remote(num_cpus=share, max_retries=RETRIES)(called)
        self.references: dict[Future, Any] = {}

    def put(self, value: Any) -> Any:
        """A value that many calls are given, sent to each machine once."""
        return self.ray.put(value)

    def submit(self, function: Callable, /, *arguments: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        future.set_running_or_notify_cancel()
        self.references[future] = reference = self.call.remote(function, *arguments, **kwargs)

        def pass_on(done: Future) -> None:
            self.references.pop(future, None)
            error = done.exception()
            if error is None:
                future.set_result(done.result())
            else:
                future.set_exception(own_error(error))

        reference.future().add_done_callback(pass_on)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster, or ends it if it was started here."""
        waiting = dict(self.references)
        self.references.clear()
        for reference in waiting.values() if cancel_futures else ():
            self.ray.cancel(reference, force=True)
        if wait:
            futures.wait(waiting)
        self.ending.close()


def share_of(num_cores: int, workers: int | None) -> int:
    """Cores that a call takes, so that no more than these workers are at it at once.

    >>> share_of(4, 3), share_of(4, 2), share_of(4, 8), share_of(4, None)
    (2, 2, 1, 1)
    """
    return -(-num_cores // workers) if workers else 1


def called(function: Callable, *arguments: Any, **kwargs: Any) -> Any:
    """What a worker does. Arguments that are references come as the values that they stand for."""
    one_thread()
    return function(*arguments, **kwargs)
