"""Every claim of the paper, judged by the committed results -> results/claims.csv, results/claims.md."""

import quiet  # noqa: F401

import argparse
import sys
from pathlib import Path

import pandas as pd
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for `benchmarks`

from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.provenance import Clock, write_environment
from harness.sums import exit_if_damaged
from ledger import all_claims
from ledger.claim import score
from ledger.results_data import Results

COLUMNS = ("id", "place", "claim", "computed_from", "paper", "ours", "low", "high", "verdict", "deviation")
OPENING = """# The paper's claims

Written by `make claims` from the CSV files beside it. Each verdict is computed: the interval is a 95 % bootstrap over
seeds, paired where methods are compared; a λ, or a mix of several, is chosen on other seeds than it is judged on, or
anew in every draw. "Undecided" means that the interval leaves it open. `id` is the row of [claims.csv](claims.csv), and
`make figure2` makes the file figure2.csv that a verdict is computed from, and so on.
"""


def judged(results: Results, progress: bool = True) -> pd.DataFrame:
    """One row a claim."""
    rows = []
    for each in tqdm(all_claims(), unit="claim", disable=not progress):
        found = each.judge(results)
        number = found.number
        rows.append({"id": each.id, "place": each.place, "claim": each.text, "computed_from": each.computed_from,
                     "paper": each.paper, "ours": found.ours, "low": None if number is None else number.low,
                     "high": None if number is None else number.high, "verdict": found.verdict,
                     "deviation": each.deviation})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def as_page(table: pd.DataFrame) -> str:
    """The table in Markdown, a section for each place of the paper."""
    lines = [OPENING, score(table), ""]
    for place, rows in table.groupby("place", sort=False):
        lines += [f"## {place}", "", "| claim | paper | ours | verdict | computed from | what differs |",
                  "|---|---|---|---|---|---|"]
        for row in rows.astype(object).fillna("").itertuples():
            cells = (f"{row.claim} (`{row.id}`)", row.paper, row.ours, f"**{row.verdict}**", row.computed_from,
                     row.deviation)
            lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    folder, clock = parser.parse_args().results, Clock()
    exit_if_damaged(folder)
    try:
        table = judged(Results(folder))
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is missing: `make {Path(error.filename).stem}` makes it")
    with whole_file(folder / "claims.csv", "w") as file:
        table.to_csv(file, index=False, float_format="%.5g")
    with whole_file(folder / "claims.md", "w") as file:
        file.write(as_page(table))
    write_environment(folder / "environment.json", ["claims"], clock)
    print(table[["id", "ours", "verdict"]].to_string(index=False, max_colwidth=90))
    print(f"\n{score(table)}\n\n→ {folder / 'claims.csv'}\n→ {folder / 'claims.md'}")


if __name__ == "__main__":
    main()
