"""Runs the code of docs/bank_and_acs.md, from two files to models in use, and puts what it prints into the page.

The page is the program: its Python blocks are run one after the other, as in one session, in an empty folder. What a
block prints, warnings among it, becomes the block of text behind it.
"""

import quiet  # noqa: F401

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

from aranyani_tf.files import whole_file

PAGE = Path(__file__).parents[2] / "docs" / "bank_and_acs.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", flags=re.MULTILINE | re.DOTALL)


def run(page):
    """The page with what its blocks print now."""
    names = {"__name__": "page"}

    def replacement(match):
        code = match[1]
        print(f">>> {code.strip()}\n", file=sys.stderr, flush=True)
        output = printed(code, names)
        print(output, file=sys.stderr, flush=True)
        return f"```python\n{code}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return BLOCK.sub(replacement, page)


def printed(code, names):
    """What a block prints; a warning is its text."""
    written = io.StringIO()
    with contextlib.redirect_stdout(written), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        exec(compile(code, "<page>", "exec"), names)
    sentences = dict.fromkeys(str(each.message) for each in told if issubclass(each.category, UserWarning))
    return "".join(f"UserWarning: {sentence}\n" for sentence in sentences) + written.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    page = parser.parse_args().page.resolve()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        text = run(page.read_text(encoding="utf-8"))
    with whole_file(page, "w") as file:
        file.write(text)
    print(f"→ {os.path.relpath(page)}")


if __name__ == "__main__":
    main()
