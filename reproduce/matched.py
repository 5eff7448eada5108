"""Accuracy at the same fairness: every method at a demographic parity of 0.15, 0.10, 0.05 and 0.03."""

import quiet  # noqa: F401

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from aranyani_tf.errors import ArgumentError, DamagedFileError
from aranyani_tf.files import whole_file
from harness.experiments import RESULTS, with_all_settings
from harness.plots import SETTINGS, last_records, pareto_front
from harness.provenance import Clock, write_environment

GAPS = (0.15, 0.10, 0.05, 0.03)
SOURCES = ("figure2.csv", "figure2_beyond.csv")
KEYS = ["dataset", "preprocessing", "method", "rule", "decay"]


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
    """Accuracy at a gap, for every seed that gets there; the runs are of one setting, with several λ and seeds."""
    mixed = varied(runs)
    if mixed:
        raise ArgumentError(f"runs that differ in {', '.join(mixed)} do not belong to one curve; choose one setting")
    found = [accuracy_at(seed[["demographic_parity", "accuracy"]].to_numpy(), gap) for _, seed in runs.groupby("seed")]
    return pd.Series(found, dtype=float).dropna()


def varied(runs):
    """The settings, but for λ, that have more than one value."""
    return [name for name in SETTINGS if name != "fairness_weight" and name in runs
            and runs[name].nunique(dropna=False) > 1]


def matched(records):
    """One row a setting and gap: mean and standard deviation over the seeds that get there."""
    ends = last_records(records)
    rows = []
    keys = [*KEYS, *(name for name in varied(ends) if name not in KEYS)]
    for key, runs in ends.groupby(keys, dropna=False, sort=False):
        for gap in GAPS:
            reached = at_gap(runs, gap)
            rows.append(dict(zip(keys, key, strict=True)) | {
                "demographic_parity": gap, "accuracy": reached.mean(), "accuracy_std": reached.std(),
                "seeds": runs["seed"].nunique(), "seeds_that_reach_it": len(reached)})
    return pd.DataFrame(rows)


def joined(frames):
    """The records of several figures, those that they have in common once."""
    records = pd.concat(map(with_all_settings, frames), ignore_index=True)
    run = [name for name in (*SETTINGS, "seed", "step", "probability") if name in records]
    same = records.groupby(run, dropna=False)[["accuracy", "demographic_parity"]].transform("nunique")
    if (same > 1).any(axis=None):
        first = records.loc[(same > 1).any(axis=1), run].iloc[0].dropna().to_dict()
        raise DamagedFileError(f"{' and '.join(SOURCES)} have other numbers for the same run, {first}; make both anew")
    return records.drop_duplicates(run)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    folder = parser.parse_args().results
    missing = [name for name in SOURCES if not (folder / name).is_file()]
    if missing:
        parser.exit(1, f"{', '.join(missing)} of {folder} is missing: run `make figure2` and `make figure2_beyond`\n")
    clock = Clock()
    found = matched(joined([pd.read_csv(folder / name) for name in SOURCES]))
    with whole_file(folder / "matched.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.5g")
    shown = found.assign(accuracy=[f"{100 * mean:.2f}" + (f" ± {100 * std:.2f}" if std == std else "")
                                   if mean == mean else "—" for mean, std in
                                   zip(found["accuracy"], found["accuracy_std"], strict=True)])
    for dataset, rows in shown.groupby("dataset", sort=False):
        wide = rows.astype({"decay": object}).fillna({"decay": "none"}).pivot(
            index=list(rows.columns[2 : rows.columns.get_loc("demographic_parity")]), columns="demographic_parity",
            values="accuracy")
        print(f"\n{dataset}: accuracy % at a demographic parity of\n{wide[list(GAPS)].to_string()}")
    write_environment(folder / "environment.json", ["matched"], clock)
    print(f"\n→ {folder / 'matched.csv'}")


if __name__ == "__main__":
    main()
