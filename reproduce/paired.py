"""Who is better than whom, seed by seed: what sentences of the README and the docs stand on -> results/paired.csv."""

import quiet  # noqa: F401

import argparse
from pathlib import Path

import pandas as pd

from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.field_pairs import field_pairs
from harness.field_table import CASE, as_numbers, with_costs
from harness.provenance import Clock, write_environment
from harness.sums import exit_if_damaged
from ledger.curve_pairs import curve_pairs
from ledger.results_data import Results

COLUMNS = ["id", *CASE, "first", "second", "difference", "low", "high", "seeds", "told"]


def paired(folder: Path) -> pd.DataFrame:
    """Differences of accuracy, first − second, with 95 % intervals by Student's t, each by itself: where nothing
    differs, one of twenty is told as better or worse all the same. Sentences have an id, cases of the field have none.
    """
    found = [curve_pairs(Results(folder))]
    runs = folder / "field_runs.csv"
    texts = pd.read_csv(runs, dtype=str, keep_default_na=False) if runs.is_file() else pd.DataFrame()
    if "chosen_for" in texts:
        found.append(field_pairs(with_costs(as_numbers(texts))))
    else:
        print(f"{runs.name} is not there, or of an earlier version: `make field` makes it, and its cases are left out")
    return pd.concat(found, ignore_index=True).reindex(columns=COLUMNS)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    folder, clock = parser.parse_args(arguments).results, Clock()
    exit_if_damaged(folder)
    found = paired(folder)
    with whole_file(folder / "paired.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.6g")
    write_environment(folder / "environment.json", ["paired"], clock)
    shown = found[found["id"].notna()]
    print(shown[["id", "difference", "low", "high", "told"]].to_string(index=False))
    print(f"→ {folder / 'paired.csv'}")


if __name__ == "__main__":
    main()
