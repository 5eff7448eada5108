"""The figures: each picture inside the page, with its reading from results/README.md and what makes it."""

import base64
import io
import re
from pathlib import Path

from PIL import Image

from harness.figure_names import figure_names
from harness.readings import read_sections
from page.commands import command
from page.elements import Html, joined, missing, tag
from page.markdown import blocks, inline

WIDTH = 1600  # pixels: sharp on a dense screen, and all of them together some megabytes
COLORS = 255


def data_uri(path: Path) -> tuple[str, int, int]:
    """A picture as an address that carries it, and its size: on white, no wider than needed, by a palette."""
    with Image.open(path) as file:
        drawn = file.convert("RGBA")
    ground = Image.new("RGBA", drawn.size, "white")
    image = Image.alpha_composite(ground, drawn).convert("RGB")
    if image.width > WIDTH:
        image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    packed = io.BytesIO()
    # Without dithering: lines and letters stay clean, and the file is half as large.
    image.quantize(COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(packed.getvalue()).decode()}", *image.size


def picture(folder: Path, name: str, section: str) -> Html:
    """One figure: its title, the picture, what its numbers say, and where they are."""
    body = section.split("\n", 1)[1]
    title, _, reading = re.split(r"^(!\[.*\]\(.*\))$", body, maxsplit=1, flags=re.MULTILINE)
    title = " ".join(title.split())
    first, *others = blocks(reading, f"{name}: what its numbers say")
    more = tag("details", tag("summary", "Read on"), *others) if others else Html("")
    path = folder / f"{name}.png"
    if path.is_file():
        address, width, height = data_uri(path)
        shown = tag("button", Html(f'<img src="{address}" width="{width}" height="{height}" decoding="async" '
                                   f'alt="{tag("i", title)[3:-4]}">'),
                    type="button", class_="zoom", aria_pressed="false", aria_label=f"{title} Enlarge the picture.")
        shown = tag("div", shown, class_="scroll picture")
    else:
        shown = missing(f"results/{name}.png", command(name))
    files = [tag("a", f"{name}.{kind}", href=f"{name}.{kind}") for kind in ("csv", "pdf")
             if (folder / f"{name}.{kind}").is_file()]
    source = tag("p", "Made by ", tag("code", command(name)), *([": ", joined(files, ", ")] if files else []), ".",
                 class_="source")
    return tag("figure", tag("h3", inline(title)), shown, tag("figcaption", first, more, source), id=name)


def figures(folder: Path) -> Html:
    """Every figure that results/README.md has, in its order, and the names of those that it has not."""
    path = folder / "README.md"
    sections = read_sections(path.read_text(encoding="utf-8")) if path.is_file() else {}
    absent = [tag("code", command(name)) for name in figure_names() if name not in sections]
    rest = tag("p", "Not made yet: ", joined(absent, ", "), ".", class_="missing") if absent else Html("")
    if not sections:
        return joined([missing("results/README.md", "make figures"), rest])
    intro = tag("p", "Under each picture stands what its script read off the numbers. A click enlarges a picture.")
    return joined([intro, *(picture(folder, name, section) for name, section in sections.items()), rest], "\n")
