"""Options about tables that several commands share."""

import argparse
from typing import Any

from aranyani_tf.command.source import FORMATS
from aranyani_tf.errors import ArgumentError
from aranyani_tf.streams.row_rules import ON_BAD_ROWS


def add_format(parser: Any) -> None:
    parser.add_argument("--format", choices=FORMATS, help="of the rows; told by the name of the file if not given, csv "
                                                          "for standard input. jsonl has an object on each line")
    parser.add_argument("--separator", metavar="MARK", help="between the fields of a CSV file; a comma if not given")
    parser.add_argument("--on-bad-rows", choices=ON_BAD_ROWS, help="rows that cannot be used: skip them, and tell how "
                        "many there were (the default), or raise: stop at the first")


def names(text: str) -> list[str]:
    """A list with commas."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"a list with commas is needed, such as no,yes; got {text!r}")
    return found


def separator_of(given: str | None, path: str) -> str:
    """A tab may be written as \\t, and is that of .tsv files."""
    if given is None:
        return "\t" if path.removesuffix(".gz").endswith(".tsv") else ","
    separator = {"\\t": "\t", "tab": "\t"}.get(given, given)
    if len(separator) != 1 or separator in '\r\n"':
        raise ArgumentError(f"--separator must be one mark, such as ; or tab, got {given!r}")
    return separator
