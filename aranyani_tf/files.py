"""Files that are either whole or not there, and known by their hash."""

import contextlib
import glob
import hashlib
import os
from pathlib import Path


@contextlib.contextmanager
def whole_file(path, mode="wb"):
    """An open file that appears at `path` only once everything was written.

    It is written under a name of its own in the same folder and renamed at the end, so a run that is
    killed leaves what was there before. What a killed run left behind, the next one removes.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        if not is_running(int(left.name.split(".")[-2])):
            left.unlink(missing_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def sha256(path):
    """The file's hash, as `sha256sum` prints it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
