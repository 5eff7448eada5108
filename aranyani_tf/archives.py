"""Archives from elsewhere: looked through before anything in them is unpacked."""

import errno
import os
import zipfile
from collections import Counter
from collections.abc import Collection
from pathlib import PurePosixPath, PureWindowsPath

from aranyani_tf.errors import DamagedFileError

ROOM = 2**20  # bytes that a small archive may unpack to, whatever its size


def require_safe(path: str | os.PathLike, kind: str, *, required: Collection[str] = (), times: float = 16) -> None:
    """Raises unless a zip archive is whole, names no place outside of itself, and unpacks to a size that can be.

    Args:
        kind: what messages call it, such as ".keras file".
        required: members that have to be there.
        times: how many times its own size it may unpack to.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.keras")
    >>> with zipfile.ZipFile(path, "w") as archive:
    ...     archive.writestr("../evil.py", "print('evil')")
    >>> require_safe(path, ".keras file")
    Traceback (most recent call last):
    aranyani_tf.errors.DamagedFileError: ... is not used: its member '../evil.py' names a place outside of it
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            require_members(path, [member.filename for member in members], required)
            size, most = sum(member.file_size for member in members), times * os.path.getsize(path) + ROOM
            if size > most:
                raise DamagedFileError(f"{path} is not used: it would unpack to {size:,} bytes, where a {kind} of its "
                                       f"size has {most:,.0f} at most")
            broken = archive.testzip()
    except DamagedFileError:
        raise
    except Exception as error:  # zip and zlib have many, OSError and NotImplementedError among them
        if is_passing(error):
            raise
        raise DamagedFileError(f"{path} is damaged, or no {kind}: {error or type(error).__name__}") from error
    if broken is not None:
        raise DamagedFileError(f"{path} is damaged: its member {broken!r} does not have its check sum")


def is_passing(error: Exception) -> bool:
    """Whether a disk or a network could not be read, which says nothing about the file.

    An archive that is damaged may lead to a place before its beginning, which the system calls an invalid argument.
    """
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def require_members(path: str | os.PathLike, names: list[str], required: Collection[str]) -> None:
    """Raises unless all names are of files inside of the archive, each once, those that are needed among them."""
    for name, times in Counter(names).items():
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if ".." in parts or name.startswith("/") or PureWindowsPath(name).drive or "\\" in name:
            raise DamagedFileError(f"{path} is not used: its member {name!r} names a place outside of it")
        if times > 1:
            raise DamagedFileError(f"{path} is not used: it has two members {name!r}, and which one is meant is not "
                                   "known")
    for name in required:
        if name not in names:
            raise DamagedFileError(f"{path} is damaged: it has no member {name!r}; it has {', '.join(names) or 'none'}")
