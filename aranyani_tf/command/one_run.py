"""One run at a time for a file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from aranyani_tf.errors import InUseError
from aranyani_tf.files import drop


@contextmanager
def alone(path: str | os.PathLike) -> Iterator[None]:
    """Raises if another run writes to this file now; the lock ends with its process, however that ends."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".in-use-{path.name}"), timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise InUseError(f"another run writes to {path} now; wait for its end, or choose another file with --out"
                         ) from error
    try:
        yield
    finally:
        drop(lock)
