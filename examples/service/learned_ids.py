"""The ids that were learned, on the disk. Each save knows how long their files were, so half a save counts for nothing.

A file learned-000000012000.txt begins with the id that was learned as number 12,000. A save adds to the last one; when
that has as many ids as are remembered, it begins another, and those that nobody needs any more are removed: there are
two of them at most, however long the service runs.
"""

import os
from pathlib import Path

from aranyani_tf.errors import DamagedFileError
from checked_lines import entries, line_of

MEND = "take the whole folder from a copy, or begin again in an empty one"


def add(folder, ids, num_before, remembered):
    """Writes more ids; gives the files that are needed from now on, as {name: bytes}.

    Args:
        num_before: how many were learned before these.
        remembered: how many of the last ones are needed.
    """
    found = files(folder)
    if not found or num_before - found[-1][0] >= remembered:
        found.append((num_before, Path(folder) / f"learned-{num_before:012}.txt"))
    path = found[-1][1]
    try:
        with path.open("ab") as file:
            file.write(b"".join(map(line_of, ids)))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:  # a full disk names no file
        raise OSError(error.errno, error.strerror, str(path)) from error
    ends = [first for first, _ in found[1:]] + [num_before + len(ids)]
    needed = [path for end, (_, path) in zip(ends, found, strict=True) if end > num_before + len(ids) - remembered]
    return {path.name: path.stat().st_size for path in needed}


def read(folder, sizes):
    """The ids in the first bytes of these files, in order."""
    found = []
    for name, size in sizes.items():
        path = Path(folder) / name
        *lines, rest = (path.read_bytes()[:size] if path.exists() else b"").split(b"\n")
        if sum(map(len, lines)) + len(lines) != size or rest:
            raise DamagedFileError(f"{path} is damaged, it has lost its end: it had {size:,} bytes; {MEND}")
        found += entries(lines, path, MEND)
    return found


def cut(folder, sizes):
    """Takes away what a save wrote that was killed before it was whole."""
    for _, path in files(folder):
        os.truncate(path, sizes.get(path.name, 0))
    remove_others(folder, sizes)


def remove_others(folder, sizes):
    for _, path in files(folder):
        if path.name not in sizes:
            path.unlink()


def files(folder):
    """(number of its first id, path), in order; learned.txt, which folders of before have, is the first."""
    found = Path(folder).glob("learned*.txt")
    return sorted((int(path.stem.removeprefix("learned").removeprefix("-") or 0), path) for path in found)
