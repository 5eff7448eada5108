"""Files that are either whole or not there, and known by their hash."""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path


@contextlib.contextmanager
def whole_file(path, mode="wb"):
    """An open file that appears at `path` only once everything was written.

    It is written under a temporary name in the same folder and renamed at the end, so a run that is
    killed leaves what was there before.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    encoding = None if "b" in mode else "utf-8"
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, mode, encoding=encoding) as file:
            yield file
        os.chmod(temporary, 0o644)  # mkstemp's files are private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def sha256(path):
    """The file's hash, as `sha256sum` prints it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
