"""`results/sha256sums.txt`: what every CSV was when its run had ended, so that a changed byte is told.

Whoever computes from the CSVs asks `require_sums` first. The file is one of `sha256sum`: inside results/
`sha256sum -c sha256sums.txt` asks the same. `make sums` enters what is there now, after results of two branches were
put together, say.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock

from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import drop, sha256, whole_file
from harness import RESULTS

NAME = "sha256sums.txt"


def note_sums(folder: Path, names: Iterable[str]) -> None:
    """Enters the CSVs of these names, "figure2" say, as they are now."""
    folder = Path(folder)
    lock = FileLock(folder / f".{NAME}.lock", timeout=60)  # others may be entering theirs
    lock.acquire()
    try:
        known = read_sums(folder) | {path.name: sha256(path) for path in (folder / f"{name}.csv" for name in names)
                                     if path.is_file()}
        with whole_file(folder / NAME, "w") as file:
            file.writelines(f"{found}  {name}\n" for name, found in sorted(known.items()))
    finally:
        drop(lock)


def read_sums(folder: Path) -> dict[str, str]:
    """{name of the file: sha256}."""
    path = Path(folder) / NAME
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return {name: found for found, _, name in (line.partition("  ") for line in lines)}


def is_noted(folder: Path, name: str) -> bool:
    """Whether the CSV of this name is the one that was entered."""
    return read_sums(folder).get(f"{name}.csv") == sha256(Path(folder) / f"{name}.csv")


def require_sums(folder: Path) -> None:
    """Raises if a CSV is not what its run has left; one that nobody has entered is taken as it is."""
    for name, wanted in read_sums(folder).items():
        path = Path(folder) / name
        if path.is_file() and sha256(path) != wanted:
            raise DamagedFileError(f"{path} is not what its run has left, by {NAME}: it is damaged or was edited, or "
                                   f"the run did not end. `make {path.stem}` makes it again, `git checkout {path}` "
                                   "gives the committed one")


def exit_if_damaged(folder: Path) -> None:
    """The same for a script: it ends with the sentence alone."""
    try:
        require_sums(folder)
    except DamagedFileError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    note_sums(RESULTS, [path.stem for path in RESULTS.glob("*.csv") if "_quick" not in path.name])
    print(f"→ {RESULTS / NAME}")
