"""Lines of JSON, each with a check sum: a line that was changed is told, and half a line at the end is cut off.

A line of an earlier version has no check sum, and is taken as it is.
"""

import json
import os
import zlib

from aranyani_tf.errors import DamagedFileError

MEND = "take the file from a copy, or begin again in an empty folder"


def line_of(entry):
    """A line for an entry; JSON has no tab inside."""
    text = json.dumps(entry).encode()
    return b"%s\t%08x\n" % (text, zlib.crc32(text))


def entry_of(line):
    """The entry; raises ValueError unless the line, without its end, is what was written."""
    text, tab, check = line.partition(b"\t")
    if tab and check != b"%08x" % zlib.crc32(text):
        raise ValueError("it does not have its check sum")
    return json.loads(text)


def read(path, mend=MEND):
    """All entries; half a line at the end is none."""
    lines = path.read_bytes().split(b"\n")
    last = lines.pop()
    if last and is_whole(last[:-1]):  # behind it there was its end
        raise DamagedFileError(f"the end of {path} is damaged; {mend}")
    return entries(lines, path, mend)


def entries(lines, path, mend=MEND):
    """Those of lines without their ends, of this file."""
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(entry_of(line))
        except ValueError as error:
            raise DamagedFileError(f"line {number} of {path} is damaged: {error}; {mend}") from error
    return found


def is_whole(line):
    try:
        return b"\t" in line and entry_of(line) is not None
    except ValueError:
        return False


def cut(path):
    """Cuts half a line off the end of a file, if there is one; a process was killed while it wrote that."""
    if path.exists():
        read(path)  # raises if more is wrong than that
        os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
