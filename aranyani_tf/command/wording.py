"""Sentences of the library in the words of the command."""

import re

# What messages of the library call by the names that it has in Python, and users of a command by others.
IN_PYTHON = re.compile(r"\b(on_bad_rows|on_empty_cells|categorical|exclude|empty|decimal|separator|preprocessing|"
                       r"max_categories)=\[?'?([^'\]\s]+)'?\]?")


def in_options(sentence: str) -> str:
    """One line, with options by the names that they have here.

    >>> in_options("column 'zip' is odd; pass categorical=['zip'], or on_bad_rows='skip'")
    "column 'zip' is odd; pass --categorical zip, or --on-bad-rows skip"
    """
    return IN_PYTHON.sub(lambda match: f"--{match[1].replace('_', '-')} {match[2]}", " ".join(sentence.split()))
