"""Accuracy at the same fairness: every method at several gaps of demographic parity -> results/matched.csv."""

import quiet  # noqa: F401

import argparse
from pathlib import Path

import pandas as pd

from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.experiments import with_all_settings
from harness.intervals import Interval
from harness.matching import ACCURACY, GAP, at_gap, at_gaps, constant_answer, hull, varied
from harness.plots import last_records, select
from harness.provenance import Clock, write_environment
from harness.settings import FIRST_SETTINGS, RUN
from harness.sums import exit_if_damaged

GAPS = {"census": (0.10, 0.05, 0.03, 0.02, 0.01)}  # where λ = 0 has 0.04; of other datasets:
USUAL = (0.15, 0.10, 0.05, 0.03)
SOURCES = ("figure2.csv", "figure2_beyond.csv", "figure3.csv")
# Beside the accuracy: where the gap ended up on seeds that did not choose the mix, and other gaps of the same mix.
MEANS = {"reached_demographic_parity": GAP, "late_accuracy": "late_accuracy",
         "late_demographic_parity": "late_demographic_parity",
         "window_demographic_parity": "window_demographic_parity", "equal_opportunity": "equal_opportunity",
         "constant_share": "constant"}


def matched(records):
    """One row a setting and gap: what its best mix has on seeds that did not choose it, and how far it beats Majority.

    `bound` is False where the gap asks for nothing: the method's most accurate setting has a smaller one.
    """
    rows, ends = [], last_records(records)
    keys = [*FIRST_SETTINGS, *(name for name in varied(ends) if name not in FIRST_SETTINGS)]
    for dataset, here in ends.groupby("dataset", sort=False):
        constant, majority = constant_answer(here), {}
        learned = here[(here["method"] != "majority") | (here["probability"] == 1)]  # Majority: λ = 0, mixed
        for key, runs in learned.groupby(keys, dropna=False, sort=False):
            setting = dict(zip(keys, key, strict=True))
            unfair = unfair_runs(here, setting)
            means = runs.groupby("fairness_weight")[[GAP, ACCURACY]].mean().to_numpy()
            for gap, judged in at_gaps(runs, GAPS.get(dataset, USUAL), constant).items():
                accuracy = Interval.of(judged[ACCURACY])
                known = (gap, *unfair.index, *unfair["seed"])
                if known not in majority:
                    majority[known] = at_gap(unfair, gap, constant)[ACCURACY]
                above = Interval.of_difference(judged[ACCURACY], majority[known])
                rows.append(setting | {
                    GAP: gap, "accuracy": accuracy.mean, "low": accuracy.low, "high": accuracy.high,
                    "accuracy_std": judged[ACCURACY].std(),
                    **{name: judged[column].mean() for name, column in MEANS.items()},
                    "seeds_above_gap": (judged[GAP] > gap).mean(), "over_majority": above.mean,
                    "over_majority_low": above.low, "over_majority_high": above.high,
                    "seeds": len(judged), "bound": bool(means[hull(means)][-1, 0] > gap)})
    return pd.DataFrame(rows)


def unfair_runs(ends, setting):
    """λ = 0 in the same setting as far as there is one, which is Majority when mixed."""
    runs = select(ends, method="majority", probability=1.0)
    for name, value in setting.items():
        same = select(runs, **{name: None if value != value else value}) if name not in ("method", "rule") else runs
        if len(same):
            runs = same
        elif name == "order":
            runs = runs.assign(seed=runs["seed"] + 1_000_000)  # other seeds: nothing is paired
    return runs


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
        parser.exit(1, f"{', '.join(missing)} of {folder} is missing: run `make figure2 figure2_beyond figure3`\n")
    clock = Clock()
    exit_if_damaged(folder)
    found = matched(joined([pd.read_csv(folder / name) for name in SOURCES]))
    with whole_file(folder / "matched.csv", "w") as file:
        found.to_csv(file, index=False, float_format="%.5g")
    percent = [f"{100 * mean:.2f}" + (f" ({100 * low:.2f} to {100 * high:.2f})" if low == low else "")
               for mean, low, high in zip(found["accuracy"], found["low"], found["high"], strict=True)]
    shown = found.assign(accuracy=percent)
    for dataset, rows in shown.groupby("dataset", sort=False):
        settings = list(rows.columns[2 : rows.columns.get_loc(GAP)])
        named = rows[settings].astype(object).fillna("none")  # decay, say, where nothing is forgotten
        wide = rows.assign(**named).pivot(index=settings, columns=GAP, values="accuracy")
        print(f"\n{dataset}: accuracy % (95 % interval over seeds) at a demographic parity of\n{wide.to_string()}")
    write_environment(folder / "environment.json", ["matched"], clock)
    print(f"\n→ {folder / 'matched.csv'}")


if __name__ == "__main__":
    main()
