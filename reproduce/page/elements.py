"""Text, numbers and tables as HTML. What is not `Html` is escaped, so that no result can become markup."""

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Html(str):
    """Text that is markup already."""


class Cell(NamedTuple):
    """What a cell shows, and what it is sorted by."""

    shown: Any
    order: float | str


class Column(NamedTuple):
    """A column's heading, and whether its texts are long: those have room, and break."""

    name: str
    long: bool = False


def markup(value: Any) -> Html:
    return value if isinstance(value, Html) else Html(html.escape(str(value)))


def joined(parts: Iterable[Any], between: str = "") -> Html:
    return Html(between.join(markup(part) for part in parts))


def tag(name: str, *content: Any, **attributes: Any) -> Html:
    """An element; `class_` is class, other underscores are hyphens. None and False leave an attribute out.

    >>> tag("a", "1 < 2", href="#top", class_="small", data_order=1)
    '<a href="#top" class="small" data-order="1">1 &lt; 2</a>'
    """
    told = "".join(f' {key.rstrip("_").replace("_", "-")}' + ("" if value is True else f'="{html.escape(str(value))}"')
                   for key, value in attributes.items() if value is not None and value is not False)
    return Html(f"<{name}{told}>{joined(content)}</{name}>")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def number(value: float) -> str:
    """Four digits, or all of a whole number.

    >>> number(0.123456), number(1383.6), number(199523.0), number(5e-7)
    ('0.1235', '1,383.6', '199,523', '5e-07')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def cell(value: Any, is_right: bool) -> Html:
    """A cell of a table, and by what it is sorted."""
    shown, order = value if isinstance(value, Cell) else (value, value)
    if is_empty(shown):
        return tag("td", "–", class_="empty number" if is_right else "empty", data_order="")
    known = f"{order:.10g}" if is_number(order) else str(order) if isinstance(value, Cell) else None
    return tag("td", number(shown) if is_number(shown) else shown, class_="number" if is_right else None,
               data_order=known)


def stands_right(values: Iterable[Any]) -> bool:
    """Whether a column is one of numbers, also of such as are told with their unit."""
    pairs = [value if isinstance(value, Cell) else (value, value) for value in values]
    filled = [(shown, order) for shown, order in pairs if not is_empty(shown)]
    return bool(filled) and all(is_number(order) and not isinstance(shown, Html) for shown, order in filled)


def table(caption: Any, columns: Sequence[Column | str], rows: Iterable[Sequence[Any]], *, marked: Sequence[int] = (),
          row_attributes: Sequence[dict] = (), class_: str | None = None) -> Html:
    """A table that a click on a heading sorts, in a box of its own: a wide one scrolls there, and the page does not."""
    columns, rows = [Column(each) if isinstance(each, str) else each for each in columns], list(rows)
    right = [stands_right(values) for values in zip(*rows, strict=True)] or [False] * len(columns)
    head = joined(tag("th", tag("button", each.name, type="button"), scope="col",
                      class_="number" if is_right else "long" if each.long else None)
                  for each, is_right in zip(columns, right, strict=True))
    body = []
    for index, row in enumerate(rows):
        own = row_attributes[index] if row_attributes else {}
        body.append(tag("tr", *map(cell, row, right), class_="marked" if index in marked else None, **own))
    whole = tag("table", tag("caption", caption), tag("thead", tag("tr", head)), tag("tbody", joined(body, "\n")),
                class_=f"sortable {class_ or ''}".strip())
    return tag("div", whole, class_="scroll", tabindex="0", role="region",
               aria_label=f"Table: {plain(markup(caption))}")


def plain(text: Html) -> str:
    """Markup without its tags."""
    shown = []
    for piece in text.split("<"):
        shown.append(piece.partition(">")[2] if shown else piece)
    return html.unescape("".join(shown))


def words(name: str) -> str:
    """A column's name as words."""
    return name.replace("_", " ")


def missing(what: str, command: str) -> Html:
    """In the place of what was not made yet: what makes it."""
    return tag("p", tag("code", what), " is not here yet: ", tag("code", command), " makes it.", class_="missing")
