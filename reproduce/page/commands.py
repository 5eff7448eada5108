"""Which command makes a result, as the Makefile has it."""

import re
from functools import cache

from harness import ROOT
from harness.figure_names import figure_names


@cache
def targets() -> frozenset[str]:
    """What `make` knows by name."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return frozenset([*figure_names(), *re.findall(r"^([a-z0-9_]+):", text, flags=re.MULTILINE)])


def command(name: str) -> str:
    """What makes the result of this name; a script without a target is called itself.

    >>> command("figure5"), command("figure5_quick")
    ('make figure5', 'make figure5 QUICK=1')
    """
    name, is_quick = name.removesuffix("_quick"), name.endswith("_quick")
    if name not in targets() and (ROOT / "reproduce" / f"{name}.py").is_file():
        return f"python reproduce/{name}.py" + (" --quick" if is_quick else "")
    return f"make {name}" + (" QUICK=1" if is_quick else "")
