"""The tables of docs/trust.md: faults, processors that come apart, bad input, extremes."""

from pathlib import Path

import pandas as pd

OUTCOMES = ("same bytes", "told", "WRONG")
KINDS = ["cases", "succeeded", "refused", "escaped", "changed"]


def faults(results: Path) -> str:
    """A line for each kind of fault and program, and the sum."""
    found = pd.read_csv(results / "faults.csv")
    lines = ["| fault | program | cases | same bytes | told | wrong |", "|---|---|---|---|---|---|"]
    for (fault, program), cases in found.groupby(["fault", "program"], sort=False):
        lines.append(f"| {fault} | {program} | {len(cases)} | " + " | ".join(counted(cases)) + " |")
    lines.append(f"| **all** | | **{len(found)}** | " + " | ".join(f"**{count}**" for count in counted(found)) + " |")
    return "\n".join(lines)


def counted(cases: pd.DataFrame) -> list[str]:
    return [str(int((cases["outcome"] == outcome).sum())) for outcome in OUTCOMES]


def processors(results: Path) -> str:
    """Each kind of processor beside the one at hand."""
    lines = ["| | | processor | weights differ by up to | probabilities by up to | decisions that differ | "
             "accuracy % | gap |",
             "|---|---|---|---|---|---|---|---|"]
    for row in pd.read_csv(results / "processors.csv").itertuples():
        apart = ("–", "–", "–") if row.processor == "as it is here" else (
            f"{row.largest_difference_of_weights:.1g}", f"{row.largest_difference_of_probabilities:.1g}",
            f"{row.other_decisions:,} of {row.rows:,}")
        lines.append(f"| {row.stream} | {row.engine} | {row.processor} | {' | '.join(apart)} | "
                     f"{100 * row.accuracy:.2f} | {row.demographic_parity:.4f} |")
    return "\n".join(lines)



def fuzzed(results: Path) -> str:
    """A row for each surface, and one for all."""
    found = pd.read_csv(results / "fuzz.csv").groupby("surface", sort=False)[KINDS].sum()
    lines = ["| | cases | fine | refused in words | other errors | refused, and yet changed |",
             "|---|---|---|---|---|---|"]
    for name, row in (*found.iterrows(), ("**all**", found.sum())):
        lines.append(f"| {name} | {' | '.join(f'{row[kind]:,}' for kind in KINDS)} |")
    return "\n".join(lines)


def extremes(results: Path) -> str:
    """A row for each extreme; what both engines made of it."""
    found = pd.read_csv(results / "extremes.csv")
    lines = ["| | rows | sensible is | engine | TensorFlow's step |", "|---|---|---|---|---|"]
    for name, part in found.groupby("extreme", sort=False):
        both = [told(part[part["engine"] == engine].iloc[0]) for engine in ("numba", "xla")]
        lines.append(f"| {name} | {part['rows'].iloc[0]:,} | {part['meaning'].iloc[0]} | {' | '.join(both)} |")
    return "\n".join(lines)


def told(row: pd.Series) -> str:
    """One run: accuracy beside that of the constant answer, and the gap; or how it ended."""
    verdict = "" if row["finite"] and row["sensible"] else "**not sensible**: "
    if row["outcome"] != "learned":
        return f"{verdict}{row['outcome']}"
    gap = "no gap yet" if pd.isna(row["gap"]) else f"gap {row['gap']:.3f}"
    return f"{verdict}accuracy {row['accuracy']:.3f} (constant {row['constant_answer']:.3f}), {gap}"
