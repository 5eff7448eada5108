"""`results/README.md`: every figure with what its numbers say, each written by the figure's own script."""

import re
from pathlib import Path

import pandas as pd

from aranyani_tf.files import whole_file
from harness.figure_names import position
from harness.intervals import Interval

OPENING = """# Results

What the last runs gave. Each sentence under a picture is written by the script that drew it, from the numbers in the
CSV file of the same name; `environment.json` tells with which versions.
"""


def write_reading(folder: Path, name: str, title: str, text: str) -> None:
    """Puts a figure's section into the file, in the place of an older one; sections are in the figures' order."""
    path = Path(folder) / "README.md"
    sections = read_sections(path.read_text(encoding="utf-8")) if path.is_file() else {}
    sections[name] = f"## {name}\n\n{title}\n\n![{name}]({name}.png)\n\n{text}\n"
    ordered = [sections[each] for each in sorted(sections, key=position)]
    with whole_file(path, "w") as file:
        file.write("\n".join([OPENING, *ordered]))


def read_sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (\w+)\n", text, flags=re.MULTILINE)
    return {name: f"## {name}\n{body.rstrip()}\n" for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def percent_interval(accuracies: pd.Series) -> str:
    """Mean of accuracies in percent, with its 95 % interval over the seeds."""
    found = Interval.of(accuracies).times(100)
    return f"{found.mean:.1f} %" + (f" ({found.low:.1f} to {found.high:.1f})" if found.low == found.low else "")


def percent(accuracies: pd.Series) -> str:
    """Mean ± standard deviation of accuracies, in percent."""
    return spread(100 * accuracies, 1) + " %"


def spread(values: pd.Series, digits: int = 3) -> str:
    deviation = values.std()
    return f"{values.mean():.{digits}f}" + (f" ± {deviation:.{digits}f}" if deviation == deviation else "")
