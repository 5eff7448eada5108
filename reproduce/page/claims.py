"""The paper's claims and what became of them: the score above everything, and the whole list."""

from pathlib import Path

import pandas as pd

from page.commands import command
from page.elements import Cell, Column, Html, is_empty, joined, missing, number, table, tag
from page.markdown import inline

# Verdict → its class in the style sheet, a sign beside the colour, and how the score tells one and many.
VERDICTS = {"holds": ("holds", "✓", "holds", "hold"),
            "in part": ("part", "◐", "holds in part", "hold in part"),
            "does not hold": ("fails", "✗", "does not hold", "do not hold"),
            "undecided": ("open", "?", "is undecided", "are undecided"),
            "cannot be tested here": ("closed", "–", "cannot be tested here", "cannot be tested here")}


def verdict_of(name: str) -> tuple[str, str, str, str]:
    return VERDICTS.get(name, ("other", "·", f"is “{name}”", f"are “{name}”"))


def counted(claims: pd.DataFrame) -> dict[str, int]:
    """How many claims have each verdict, the known ones first."""
    counts = claims["verdict"].value_counts()
    return {name: int(counts[name]) for name in [*VERDICTS, *sorted(set(counts.index) - set(VERDICTS))]
            if counts.get(name, 0)}


def read_claims(folder: Path) -> pd.DataFrame | None:
    """Everything as text: an empty cell is empty, and 0.10 stays 0.10."""
    path = folder / "claims.csv"
    return pd.read_csv(path, dtype=str, keep_default_na=False) if path.is_file() else None


def score(folder: Path) -> Html:
    """A bar with a part for each verdict, and the same as a sentence."""
    claims = read_claims(folder)
    if claims is None:
        return missing("results/claims.csv", command("claims"))
    counts = counted(claims)
    told = [f"{count} {verdict_of(name)[2 if count == 1 else 3]}" for name, count in counts.items()]
    parts = [tag("span", tag("span", f"{verdict_of(name)[1]} {count}"), style=f"flex-grow:{count}", title=sentence,
                 class_=f"verdict {verdict_of(name)[0]}")
             for (name, count), sentence in zip(counts.items(), told, strict=True)]
    keys = [tag("li", tag("span", class_=f"key {verdict_of(name)[0]}"), sentence)
            for name, sentence in zip(counts, told, strict=True)]
    return joined([
        tag("p", f"Of {len(claims)} claims of the paper ", enumerated(told), ".", class_="score"),
        tag("div", *parts, class_="bar", aria_hidden="true"), tag("ul", *keys, class_="keys", aria_hidden="true"),
        tag("p", tag("a", "Every claim with its numbers", href="#claims"), ".")])


def enumerated(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def all_claims(folder: Path) -> Html:
    """Every row of the file; buttons show those of one verdict."""
    claims = read_claims(folder)
    if claims is None:
        return missing("results/claims.csv", command("claims"))
    counts = counted(claims)
    buttons = [tag("button", f"all {len(claims)}", type="button", aria_pressed="true", data_verdict="")]
    buttons += [tag("button", f"{verdict_of(name)[1]} {name} {count}", type="button", aria_pressed="false",
                    data_verdict=name, class_=verdict_of(name)[0]) for name, count in counts.items()]
    columns = ["Id", "Verdict", Column("Claim", long=True), "Place in the paper", "Paper", Column("Here", long=True),
               "95 % interval", Column("Deviation", long=True), Column("Computed from", long=True)]
    order = {name: index for index, name in enumerate(counts)}
    rows = [(row.id, badge(row.verdict, order[row.verdict]), inline(row.claim), row.place, figure(row.paper),
             figure(row.ours), interval(row.low, row.high), inline(row.deviation, "../"),
             inline(row.computed_from, "../"))
            for row in claims.itertuples()]
    whole = table("The paper's claims", columns, rows, class_="prose claims",
                  row_attributes=[{"data_verdict": name} for name in claims["verdict"]])
    return joined([tag("div", *buttons, class_="filters", role="group", aria_label="Show the claims with one verdict"),
                   tag("p", class_="shown", role="status"), whole])


def badge(name: str, order: int) -> Cell:
    css, sign, *_ = verdict_of(name)
    return Cell(tag("span", f"{sign} {name}", class_=f"verdict badge {css}"), order)


def as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def figure(text: str) -> Html | Cell:
    """What a claim is about: a number, to four digits, or a few words."""
    value = as_number(text)
    return inline(text) if value is None else Cell(number(value), value)


def interval(low: str, high: str) -> Cell | str:
    if is_empty(low) and is_empty(high):
        return ""
    ends = [number(value) if (value := as_number(text)) is not None else text or "–" for text in (low, high)]
    value = as_number(low)
    return Cell(" to ".join(ends), low if value is None else value)
