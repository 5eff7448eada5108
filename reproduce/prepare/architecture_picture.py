"""Boxes in layers and lines between them, as SVG written by hand: the same imports give the same bytes.

A line has the colour of the box that it leads to, and all lines to a box run together. `architecture_layout` says
where everything stands.
"""

import itertools
import re
from xml.sax.saxutils import escape

from prepare.architecture_layout import arranged, with_passages

WIDTH, MARGIN, PADDING = 980, 20, 24
NAME, LINE, BETWEEN = 30, 15, 46  # heights: of a box's name, of a line of its text, of the room between layers
LETTERS, LETTER, MANY = (28, 40), 6.6, 110  # in a line of a box with few files or many; its width; what many are
LANE, GAP = 6, 18  # widths: of a line that passes a layer, and of the room between two items
LEGEND = "an arrow: from importer to imported, in the colour of the imported"
INK, PALE, FRAME, PAPER, PANEL = "#1f2328", "#59636e", "#d1d9e0", "#ffffff", "#f6f8fa"
# Dark enough for a line; the first are those of Okabe and Ito, which people who see fewer colours can tell apart.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d1f", "#56a0d3", "#7b4fa3", "#b03a48", "#5a7d2a", "#6e6e6e")


def picture(parts, ground):
    """An SVG file of parts that import earlier ones, drawn from the top down; `ground` is a box below all others."""
    shapes, top = [], MARGIN
    for index, part in enumerate(reversed(parts)):
        if index:
            shapes += [line(WIDTH // 2, top, top, WIDTH // 2, top + 42, PALE, arrow=True, width=4),
                       text(WIDTH // 2 + 14, top + 25, "imports", 12, PALE)]
            top += 42
        panel, top = drawn_part(part, ground, top)
        shapes += panel
    shapes.append(text(WIDTH - MARGIN - PADDING, MARGIN + 31, LEGEND, 12, PALE, "end"))
    height = top + MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" role="img">',
        "<title>Folders, and arrows from importer to imported</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>', *shapes, "</svg>", ""])


def drawn_part(part, ground, top):
    """The shapes of one part, and where its frame ends."""
    layers = part.layers()[::-1]
    colors = dict(zip(itertools.chain(*layers[::-1]), itertools.cycle(COLORS), strict=False))
    texts = {box: listed(files) for box, files in part.boxes.items()}
    widths = {box: round(LETTER * max(LETTERS[0], *map(len, lines), 0)) for box, lines in texts.items()}
    heights = {box: NAME + LINE * len(lines) + (8 if lines else 0) for box, lines in texts.items()}
    rows, links = with_passages(layers, part.imports)
    left = MARGIN + PADDING
    rows, centers = arranged(rows, links, lambda item: widths.get(item, LANE), GAP, left, WIDTH - left)
    lines, boxes, y = [], [], top + 50
    for row, items in enumerate(rows):
        bottom = y + max(heights[box] for box in layers[row])
        for item in items:
            x, ends = centers[item], sorted((below for above, below in links[row] if above == item), key=centers.get)
            if item in heights:
                boxes.append(drawn_box(item, texts[item], x - widths[item] // 2, y, widths[item], heights[item],
                                       colors[item]))
            for index, below in enumerate(ends):
                lines.append(line(x + 14 * index - 7 * (len(ends) - 1), y + heights.get(item, 0), bottom,
                                  centers[below], bottom + BETWEEN, colors[below if below in colors else below[0]],
                                  arrow=below in colors))
        y = bottom + BETWEEN
    y += 26 - BETWEEN
    if ground in part.boxes:
        boxes.append(drawn_box(" · ".join(part.boxes[ground]), ["single files, which any folder may import"],
                               left, y, WIDTH - 2 * left, NAME + LINE + 8, PALE))
        y += NAME + LINE + 8 + PADDING
    frame = (f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{y - top}" rx="12" fill="{PANEL}" '
             f'stroke="{FRAME}"/>')
    return [frame, text(left, top + 32, f"{part.name}/", 18, INK, weight="bold"), *lines, *boxes], y


def listed(files):
    """The files of a box in lines."""
    names, lines = names_of(files), []
    letters = LETTERS[len(" · ".join(names)) > MANY]
    for name in names:
        if lines and len(lines[-1]) + len(name) + 3 <= letters:
            lines[-1] += f" · {name}"
        else:
            lines.append(name)
    return lines


def names_of(files):
    """The files to be told; those that are numbered are told as one.

    >>> names_of(["__main__", "drift", "figure1", "figure10", "figure2", "table1"])
    ['drift', 'figure1–10', 'table1']
    """
    names, numbers = {}, {}
    for file in sorted(file for file in files if not file.startswith("__")):
        stem, number = re.fullmatch(r"(.*?)(\d*)", file).groups()
        numbers.setdefault(stem, []).append(int(number or 0))
        names[stem] = f"{stem}{min(numbers[stem])}–{max(numbers[stem])}" if len(numbers[stem]) > 1 else file
    return list(names.values())


def drawn_box(name, lines, x, y, wide, high, color):
    return "\n".join([
        f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="7" fill="{PAPER}" stroke="{color}" '
        'stroke-width="1.8"/>', text(x + wide / 2, y + 20, name, 14, color, "middle", "bold"),
        *(text(x + wide / 2, y + NAME + 6 + LINE * row, words, 11, PALE, "middle") for row, words in enumerate(lines))])


def line(x, y, bend, end_x, end_y, color, *, arrow, width=2):
    """Down from (x, y), straight as far as `bend`, then in a curve to the end, with an arrow's head if it is a box."""
    tip = end_y - (4 + 2 * width if arrow else 0)
    middle, half = (bend + tip) / 2, 2 + 1.5 * width
    shape = (f'<path d="M{x:g} {y} V{bend} C{x:g} {middle:g} {end_x} {middle:g} {end_x} {tip}" fill="none" '
             f'stroke="{color}" stroke-width="{width}"/>')
    head = f'\n<path d="M{end_x} {end_y} l{-half:g} {tip - end_y} h{2 * half:g} z" fill="{color}"/>'
    return shape + head * arrow


def text(x, y, words, size, color, anchor="start", weight="normal"):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(words)}</text>')
