"""Accuracy at the same fairness: every method at a demographic parity of 0.15, 0.10, 0.05 and 0.03."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from aranyani_tf.files import whole_file
from experiments import RESULTS
from plots import last_records, pareto_front

GAPS = (0.15, 0.10, 0.05, 0.03)
SOURCES = ("figure2.csv", "figure2_beyond.csv")


def accuracy_at(points, gap):
    """The best accuracy at a gap, on the line through the Pareto front of one seed's runs.

    A method whose runs all have smaller gaps has its best accuracy there too; one whose gaps are all
    larger has none.
    """
    front = pareto_front(points)
    if gap < front[0, 0]:
        return np.nan
    return float(np.interp(gap, front[:, 0], front[:, 1]))


def at_gap(runs, gap):
    """Accuracy at a gap, for every seed that gets there."""
    found = [accuracy_at(seed[["demographic_parity", "accuracy"]].to_numpy(), gap) for _, seed in runs.groupby("seed")]
    return pd.Series(found, dtype=float).dropna()


def matched(records):
    """One row a dataset, method, decay and gap: mean and standard deviation over the seeds that get there."""
    ends = last_records(records)
    ends = ends[ends["rule"] != "paper"]
    rows = []
    keys = ["dataset", "preprocessing", "method", "decay"]
    for key, runs in ends.groupby(keys, dropna=False, sort=False):
        for gap in GAPS:
            reached = at_gap(runs, gap)
            rows.append(dict(zip(keys, key, strict=True)) | {
                "demographic_parity": gap, "accuracy": reached.mean(), "accuracy_std": reached.std(),
                "seeds": runs["seed"].nunique(), "seeds_that_reach_it": len(reached)})
    return pd.DataFrame(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    folder = parser.parse_args().results
    missing = [name for name in SOURCES if not (folder / name).is_file()]
    if missing:
        parser.exit(1, f"{', '.join(missing)} of {folder} is missing: run `make figure2` and `make figure2_beyond`\n")
    records = pd.concat([pd.read_csv(folder / name) for name in SOURCES])
    settings = [name for name in records if name not in ("accuracy", "demographic_parity")]
    found = matched(records.drop_duplicates([name for name in settings if name in (
        "dataset", "preprocessing", "method", "rule", "decay", "fairness_weight", "seed", "step", "probability")]))
    with whole_file(folder / "matched.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.5g")
    shown = found.assign(accuracy=[f"{100 * mean:.2f}" + (f" ± {100 * std:.2f}" if std == std else "")
                                   if mean == mean else "—" for mean, std in
                                   zip(found["accuracy"], found["accuracy_std"], strict=True)])
    for dataset, rows in shown.groupby("dataset", sort=False):
        wide = rows.fillna({"decay": "none"}).pivot(index=["method", "decay"], columns="demographic_parity",
                                                    values="accuracy")
        print(f"\n{dataset}: accuracy % at a demographic parity of\n{wide[list(GAPS)].to_string()}")
    print(f"\n→ {folder / 'matched.csv'}")


if __name__ == "__main__":
    main()
