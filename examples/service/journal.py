"""The journal: every feedback as a line of JSON, on the disk before anybody is told that it was taken.

Entries are numbered from 0. A file journal-000000012000.jsonl begins with entry 12,000; a save begins a new file, and
those that it covers are removed. A process that was killed may leave half a line at the end: nobody was told that it
was taken, so it is cut off.
"""

import os
from contextlib import suppress
from pathlib import Path

from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import sync
from checked_lines import cut, line_of, read

MEND = "take the whole folder from a copy, or begin again in an empty one"


class Journal:
    """Entries in a folder.

    Args:
        keep: whether covered files are kept, for whoever wants to learn everything once more.
    """

    def __init__(self, folder, keep=False):
        self.folder, self.keep, self.file = Path(folder), keep, None

    def files(self):
        """(number of its first entry, path), in order."""
        return sorted((int(path.stem.removeprefix("journal-")), path) for path in self.folder.glob("journal-*.jsonl"))

    def entries(self, offset):
        """All entries from this number on; raises if some of them are not there."""
        following = offset
        for first, path in self.files():
            if first > following:
                raise DamagedFileError(f"entries {following:,} to {first - 1:,} of the journal are missing: {path} "
                                       f"begins with entry {first:,}; {MEND}")
            for number, entry in enumerate(read(path), first):
                if number >= offset:
                    following = number + 1
                    yield entry

    def open(self, offset):
        """Ready to append after what is there; half a line at the end is cut off. Comes before all else.

        Args:
            offset: how many entries the last save covers.
        """
        found = self.files()
        if offset and not found:  # a save leaves one, however it ends
            raise DamagedFileError(f"the entries of the journal from {offset:,} on are missing: {self.name(offset)} is "
                                   f"not there; {MEND}")
        first, path = (found or [(offset, self.name(offset))])[-1]
        cut(path)
        self.file = path.open("ab")
        sync(self.folder)
        if first < offset:  # killed after the save, and before it was cut
            self.cut(offset)

    def append(self, entries):
        """Writes entries, and waits until they have reached the disk; many at once cost as much as one."""
        try:
            self.file.write(b"".join(map(line_of, entries)))
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, self.file.name) from error

    def cut(self, offset):
        """Goes on in a new file: a save has covered all entries before this number."""
        self.file.close()
        covered = [path for first, path in self.files() if first < offset]
        self.file = self.name(offset).open("ab")
        sync(self.folder)
        for path in covered if not self.keep else ():
            path.unlink()

    def name(self, offset):
        return self.folder / f"journal-{offset:012}.jsonl"

    def close(self):
        if self.file is not None:
            with suppress(OSError):  # of what could not be written, which was told
                self.file.close()
