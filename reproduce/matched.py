"""Accuracy at the same fairness: every method at a demographic parity of 0.15, 0.10, 0.05 and 0.03."""

import quiet  # noqa: F401

import argparse
from pathlib import Path

import pandas as pd

from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.experiments import with_all_settings
from harness.matching import at_gap, varied
from harness.plots import last_records
from harness.provenance import Clock, write_environment
from harness.settings import FIRST_SETTINGS, RUN

GAPS = (0.15, 0.10, 0.05, 0.03)
SOURCES = ("figure2.csv", "figure2_beyond.csv")


def matched(records):
    """One row a setting and gap: mean and standard deviation over the seeds that get there."""
    ends = last_records(records)
    rows = []
    keys = [*FIRST_SETTINGS, *(name for name in varied(ends) if name not in FIRST_SETTINGS)]
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
    run = [name for name in (*RUN, "step") if name in records]
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
        settings = list(rows.columns[2 : rows.columns.get_loc("demographic_parity")])
        named = rows[settings].astype(object).fillna("none")  # decay, say, where nothing is forgotten
        wide = rows.assign(**named).pivot(index=settings, columns="demographic_parity", values="accuracy")
        print(f"\n{dataset}: accuracy % at a demographic parity of\n{wide[list(GAPS)].to_string()}")
    write_environment(folder / "environment.json", ["matched"], clock)
    print(f"\n→ {folder / 'matched.csv'}")


if __name__ == "__main__":
    main()
