"""The little Markdown that readings and docs have: paragraphs, lists, tables, code, bold, links."""

import re

from page.elements import Html, joined, markup, table, tag

INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>.+?)\*\*|\*(?P<slanted>[^*\s][^*]*)\*"
                    r"|\[(?P<text>[^\]]+)\]\((?P<address>[^)\s]+)\)")


def inline(text: str, base: str = "") -> Html:
    """One line; addresses that are relative are so to `base`.

    >>> inline("`a<b`, **bold** and [a page](b.md)", "../docs/")
    '<code>a&lt;b</code>, <strong>bold</strong> and <a href="../docs/b.md">a page</a>'
    """
    parts, end = [], 0
    for found in INLINE.finditer(text):
        parts.append(text[end:found.start()])
        end = found.end()
        if found["code"]:
            parts.append(tag("code", found["code"]))
        elif found["bold"]:
            parts.append(tag("strong", inline(found["bold"], base)))
        elif found["slanted"]:
            parts.append(tag("em", inline(found["slanted"], base)))
        else:
            is_whole = re.match(r"\w+:|#", found["address"])
            parts.append(tag("a", inline(found["text"]), href=("" if is_whole else base) + found["address"]))
    return joined([*parts, text[end:]])


def blocks(text: str, caption: str, base: str = "") -> list[Html]:
    """Every block of a text, in its order."""
    found = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = lines_of(block)
        if is_table(lines):
            found.append(as_table(lines, caption, base))
            continue
        listed = next((index for index, line in enumerate(lines) if line.startswith("- ")), len(lines))
        if listed:
            found.append(tag("p", inline(" ".join(lines[:listed]), base)))
        if lines[listed:]:
            items = re.split(r"^- ", "\n".join(lines[listed:]), flags=re.MULTILINE)[1:]
            found.append(tag("ul", *(tag("li", inline(" ".join(item.split()), base)) for item in items)))
    return found


def first_table(text: str, caption: str, base: str = "") -> Html | None:
    """The first table of a page."""
    tables = (lines_of(block) for block in re.split(r"\n\s*\n", text))
    return next((as_table(lines, caption, base) for lines in tables if is_table(lines)), None)


def lines_of(block: str) -> list[str]:
    """Without comments, which nobody reads."""
    return [line for line in block.strip().splitlines() if not line.startswith("<!--")]


def is_table(lines: list[str]) -> bool:
    return len(lines) > 1 and lines[0].startswith("|") and bool(re.fullmatch(r"[|:\-\s]+", lines[1]))


def as_table(lines: list[str], caption: str, base: str) -> Html:
    head, _, *rows = ([each.strip().replace(r"\|", "|") for each in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
                      for line in lines)
    names = [re.sub(r"[`*]", "", name) or "Setting" for name in head]
    return table(markup(caption), names, [[inline(value, base) for value in row] for row in rows], class_="prose")
