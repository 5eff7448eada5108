"""Which figures there are: every script of `reproduce/` with a `FIGURE`. The Makefile asks this file too.

So it needs nothing but Python, and looks into the scripts without running them.
"""

import re
from pathlib import Path

SCRIPTS = Path(__file__).parents[1]


def figure_names(folder: Path = SCRIPTS) -> list[str]:
    """The names of all figures, in their order."""
    found = [path.stem for path in folder.glob("*.py")
             if re.search(r"^FIGURE\b.*=", path.read_text(encoding="utf-8"), flags=re.MULTILINE)]
    return sorted(found, key=position)


def position(name: str) -> tuple[int, str]:
    """figure1, figure2, figure2_beyond, …, figure12, then the others by name."""
    number = re.match(r"figure(\d+)", name)
    return (int(number[1]) if number else 99, name)


if __name__ == "__main__":
    print(*figure_names())
