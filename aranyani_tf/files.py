"""Files that are either whole or not there, and known by their hash."""

import contextlib
import glob
import hashlib
import os
import re
import secrets
from pathlib import Path


@contextlib.contextmanager
def whole_path(path):
    """A path beside `path`, with the same ending; the file that is written there becomes `path` at the end.

    It has reached the disk when it gets its name, so a run or a machine that stops leaves what was there
    before. What a killed run left behind, the next one removes.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_path(folder / "model.weights.h5") as part:
    ...     _ = part.write_bytes(b"everything")
    ...     print(part.name.endswith(".weights.h5"), (folder / "model.weights.h5").exists())
    True False
    >>> [file.name for file in folder.iterdir()]
    ['model.weights.h5']
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_left_overs(path)
    # Nobody can guess the name, and so put a link there that leads elsewhere.
    part = path.with_name(f".part-{os.getpid()}-{secrets.token_hex(8)}-{path.name}")
    try:
        yield part
        if path.is_file() and not path.is_symlink():
            part.chmod(path.stat().st_mode & 0o777)  # as if the old file had been written to
        sync(part)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # some file systems cannot do it for a folder
        sync(path.parent)


@contextlib.contextmanager
def whole_file(path, mode="wb"):
    """An open file that appears at `path` only once everything was written; see `whole_path`."""
    with whole_path(path) as part, \
            open(part, mode.replace("w", "x"), encoding=None if "b" in mode else "utf-8") as file:
        yield file


def remove_left_overs(path):
    """Removes what processes left behind that were killed while they wrote this file."""
    name = re.compile(rf"\.part-(\d+)-[0-9a-f]{{16}}-{re.escape(path.name)}")
    for left in path.parent.glob(f".part-*-{glob.escape(path.name)}"):
        found = name.fullmatch(left.name)
        if found and left.is_file() and not is_running(int(found[1])):
            left.unlink(missing_ok=True)


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # another user's; no number of a process, so not one of ours
        return True
    return True


def sync(path):
    """Waits until a file, or a folder's list of names, has reached the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(path):
    """The file's hash, as `sha256sum` prints it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
