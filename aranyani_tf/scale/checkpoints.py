"""Checkpoints of many sites in one folder: a `.keras` file each, whose name tells how many rows it has learned.

Name and content appear in one moment, so that a kill leaves either the old checkpoint or the new one, never a model
with another's number of rows.
"""

import contextlib
import re
from pathlib import Path
from urllib.parse import quote, unquote

from aranyani_tf.errors import ArgumentError, DamagedFileError
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.model.loading import load_model

NAME = re.compile(r"(?P<site>[^@]+)@(?P<offset>[0-9]{12})\.keras")
LONGEST = 200  # characters of a site's name in its file's; most file systems take 255


class Checkpoints:
    """Those of a folder, which all machines of a cluster have to see.

    >>> import tempfile
    >>> import aranyani_tf as ar
    >>> model = ar.Aranyani(num_trees=1, height=2, seed=0)
    >>> model.build_for(3)
    >>> checkpoints = Checkpoints(tempfile.mkdtemp())
    >>> checkpoints.save("Århus/1", model, 500)
    >>> checkpoints.offset("Århus/1"), checkpoints.sites()
    (500, ['Århus/1'])
    >>> loaded, offset = checkpoints.load("Århus/1")
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def save(self, site: str, model: Aranyani, offset: int) -> None:
        """Writes a checkpoint, then removes the ones before."""
        new = self.folder / f"{file_name(site)}@{offset:012}.keras"
        model.save(new)
        for old in self.of(site):
            if old != new:
                with contextlib.suppress(OSError):  # it is not needed, and the next one removes it
                    old.unlink()

    def load(self, site: str) -> tuple[Aranyani, int] | None:
        """The latest model of a site and how many rows it has learned; None if there is none."""
        files = self.of(site)
        if not files:
            return None
        try:
            model = load_model(files[-1])
        except DamagedFileError as error:  # a disk that could not be read is none
            raise DamagedFileError(f"{error}; take {files[-1].name} from a copy, or remove it, and the site {site!r} "
                                   "begins again") from error
        return model, offset_of(files[-1])

    def offset(self, site: str) -> int:
        """How many rows the latest checkpoint has learned."""
        files = self.of(site)
        return offset_of(files[-1]) if files else 0

    def of(self, site: str) -> list[Path]:
        """A site's files, the latest last: two where a kill came between writing and removing."""
        own = file_name(site)
        found = (NAME.fullmatch(path.name) for path in self.folder.glob("*.keras"))
        return sorted(self.folder / match.string for match in found if match and match["site"] == own)

    def sites(self) -> list[str]:
        """The sites that have a checkpoint."""
        found = (NAME.fullmatch(path.name) for path in self.folder.glob("*.keras"))
        return sorted({unquote(match["site"]) for match in found if match})


def file_name(site: str) -> str:
    """A site's name as part of a file's: without @ and /, and the same on every system."""
    found = quote(site, safe="") if isinstance(site, str) else ""
    if not found or len(found) > LONGEST:
        raise ArgumentError(f"a site's name must be a text of 1 to {LONGEST} characters (three for each byte that is "
                            f"no plain letter, digit, _, ., - or ~), got {site!r}")
    return found


def offset_of(path: Path) -> int:
    found = NAME.fullmatch(path.name)
    assert found is not None
    return int(found["offset"])
