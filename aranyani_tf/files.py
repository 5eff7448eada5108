"""Files that are either whole or not there, and known by their hash."""

import contextlib
import glob
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout


@contextlib.contextmanager
def whole_path(path: str | os.PathLike) -> Iterator[Path]:
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
    part, lock = names_beside(path, secrets.token_hex(8))  # nobody can guess it, and put a link there
    with writing(path, lock):
        try:
            yield part
            if path.is_file() and not path.is_symlink():
                part.chmod(path.stat().st_mode & 0o777)  # as if the old file had been written to
            sync(part)
            os.replace(part, path)
        except BaseException as error:
            part.unlink(missing_ok=True)
            # A full disk names no file, or the part.
            if isinstance(error, OSError) and error.errno and error.filename in (None, str(part)):
                raise OSError(error.errno, error.strerror, str(path)) from error
            raise
    with contextlib.suppress(OSError):  # some file systems cannot do it for a folder
        sync(path.parent)


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike) -> Iterator[Path]:
    """A path for a new folder, which becomes `path` at the end, in the place of the folder that was there.

    As `whole_path`, but a folder cannot be replaced in one go. There are two renamings, and a machine that stops
    between them leaves the old and the new one inside `.part-…` beside it, until the next one that writes puts the
    old one back.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_left_overs(path)
    part, lock = names_beside(path, secrets.token_hex(8))
    new, old = part / path.name, part / f"{path.name}-before"
    with writing(path, lock):
        try:
            part.mkdir()
            yield new
            for each in [*new.rglob("*"), new]:
                sync(each)
            if os.path.lexists(path):
                os.rename(path, old)
            os.rename(new, path)
        finally:
            put_back(part, path)
            remove(part)
    with contextlib.suppress(OSError):
        sync(path.parent)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike, mode: str = "wb") -> Iterator[IO[Any]]:
    """An open file that appears at `path` only once everything was written; see `whole_path`."""
    with whole_path(path) as part, \
            open(part, mode.replace("w", "x"), encoding=None if "b" in mode else "utf-8") as file:
        yield file


def names_beside(path: Path, token: str) -> tuple[Path, Path]:
    """Where a writer of this file writes, and the lock that it holds meanwhile."""
    return path.with_name(f".part-{token}-{path.name}"), path.with_name(f".lock-{token}-{path.name}")


@contextlib.contextmanager
def writing(path: Path, lock_path: Path) -> Iterator[None]:
    """Holds the lock that tells others that the writer of `path` lives; it ends with its process."""
    lock = FileLock(lock_path, timeout=60, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise
    except OSError as error:  # the first that is written, so that a read-only folder shows here
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        yield
    finally:
        drop(lock)


def remove_left_overs(path: Path) -> None:
    """Removes what processes left behind that were killed while they wrote this file: their locks can be had.

    What is written there may be written in the same way, as a model by a run: that has left a part of a part.
    """
    name = re.compile(rf"\.(?:part|lock)-([0-9a-f]{{16}})-((?:\.part-[0-9a-f]{{16}}-)*{re.escape(path.name)})")
    found = {file: name.fullmatch(file.name) for file in path.parent.glob(f".*-*-{glob.escape(path.name)}")}
    for token, of in sorted({match.groups() for file, match in found.items() if match and file.is_file()}):
        part, lock_path = names_beside(path.with_name(of), token)
        lock = FileLock(lock_path, thread_local=False)
        with contextlib.suppress(OSError):  # its writer lives, or is another user's
            lock.acquire(blocking=False)
            with contextlib.suppress(OSError):
                put_back(part, path.with_name(of))
                remove(part)
            drop(lock)


def remove_left_overs_in(folder: Path) -> None:
    """The same for all files of a folder, those too that nobody is going to write again."""
    name = re.compile(r"\.(?:part|lock)-[0-9a-f]{16}-(?:\.part-[0-9a-f]{16}-)*(.+)")
    found = [name.fullmatch(file.name) for file in Path(folder).glob(".*-*-*")]
    for of in sorted({match[1] for match in found if match}):
        remove_left_overs(Path(folder) / of)


def put_back(part: Path, path: Path) -> None:
    """Gives the folder of before its name again, if a writer took it away, and came no further."""
    before = part / f"{path.name}-before"
    if before.is_dir() and not os.path.lexists(path):
        os.rename(before, path)


def remove(path: Path) -> None:
    """Removes a file, or a folder with all that is in it, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def drop(lock: Any) -> None:
    """Releases a lock, and removes its file.

    The file goes first: if it went last, somebody could take the lock in between, and hold one that has no
    name. On Windows it has to go last, since an open file cannot be removed there; nor can one that somebody
    took in between.
    """
    if os.name == "nt":
        lock.release()
    with contextlib.suppress(OSError):  # the next writer finds and removes it
        os.unlink(lock.lock_file)
    lock.release()


def is_local(path: Any) -> bool:
    """Whether it is a path of this machine, and no address such as gs://bucket/model.keras, nor a file object."""
    return isinstance(path, (str, Path)) and "://" not in str(path)


def sync(path: Path) -> None:
    """Waits until a file, or a folder's list of names, has reached the disk."""
    # Windows flushes only what may be written to.
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(path: str | os.PathLike) -> str:
    """The file's hash, as `sha256sum` prints it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
