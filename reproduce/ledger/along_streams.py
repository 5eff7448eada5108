"""Claims of Appendix E about what happens along a stream: λ, trees, seeds, and streams of an adversary."""

import numpy as np
import pandas as pd

from harness.intervals import Interval
from harness.plots import select
from ledger.claim import HOLDS, NOT, OPEN, Judgement, by_share, claim, negative, number, points, positive, together
from ledger.results_data import Cloud, by_setting, rank_correlation_of, rising

WARM = 1000  # samples after which a curve is looked at


for _column, _text, _word in (("accuracy", "A larger λ gives less accuracy throughout the stream", "less"),
                              ("demographic_parity", "A larger λ gives a smaller gap throughout the "
                               "stream", "smaller")):
    @claim(f"weight-along-stream-{_column.replace('_', '-')}", "Appendix E, Figure 5", _text,
           f"figure5.csv: share of checkpoints from {WARM:,} samples on, and of neighbouring λ, where the mean does "
           f"not rise; "
           "95 % is throughout", "consistently")
    def along_stream(results, column=_column):
        runs = select(results["figure5"], method="aranyani")
        runs = runs[runs["step"] >= WARM]

        by_seed = np.stack([own.pivot_table(index="step", columns="fairness_weight", values=column)
                            for _, own in runs.groupby("seed")])  # (seed, step, λ)
        found = Interval.of_statistic(range(len(by_seed)), lambda seeds: float(
            (np.diff(by_seed[seeds].mean(axis=0), axis=1) <= 0).mean()))
        return Judgement(f"{100 * found.mean:.0f} % ({100 * found.low:.0f} to "
                         f"{100 * found.high:.0f})", found.times(100),
                         by_share(found.mean))


def trees(results, column: str) -> pd.DataFrame:
    return by_setting(results.ends("figure6"), "num_trees", column)


@claim("trees-cost-accuracy", "Appendix E, Figure 6", "More trees cost a little accuracy",
       "figure6.csv: rank correlation of the number of trees and mean accuracy, over seeds", "a gradual decrease")
def trees_cost_accuracy(results):
    values = trees(results, "accuracy")
    found, change = rising(values), 100 * (values.iloc[-1] - values.iloc[0]).mean()
    return Judgement(f"rank correlation {number(found)}; from {values.index[0]} to {values.index[-1]} trees "
                     f"{change:+.2f} "
                     "points", found, negative(found))


@claim("trees-improve-parity", "Appendix E, Figure 6", "More trees give a smaller gap",
       "figure6.csv: rank correlation of the number of trees and mean demographic parity, over "
       "seeds", "a consistent drop")
def trees_improve_parity(results):
    found = rising(trees(results, "demographic_parity"))
    return Judgement(f"rank correlation {number(found)}", found, negative(found))


@claim("trees-steadier", "Appendix E, Figure 6", "More trees vary less from seed to seed",
       "figure6.csv: rank correlation of the number of trees and the standard deviation over seeds, accuracy and gap; "
       "seeds drawn anew", "gradually less")
def trees_steadier(results):
    told, verdicts, main = [], [], None
    for column in ("accuracy", "demographic_parity"):
        values = trees(results, column)
        found = Interval.of_statistic(values.columns, lambda seeds, values=values: rank_correlation_of(
            values.index, values[seeds].to_numpy().std(axis=1)))
        told.append(f"{column} {number(found)}")
        verdicts.append(negative(found))
        main = main or found
    return Judgement(f"rank correlation: {'; '.join(told)}", main, together(verdicts))


def spread_ratio(results, column: str, step: int) -> Interval:
    """Standard deviation over seeds after so many samples ÷ at the end; seeds drawn anew."""
    wide = select(results["figure8"], method="aranyani", fairness_weight=0.1).pivot_table(
        index="step", columns="seed", values=column)
    then, end = wide.iloc[np.abs(wide.index - step).argmin()].to_numpy(), wide.iloc[-1].to_numpy()
    return Interval.of_statistic(range(len(end)), lambda seeds: then[seeds].std() / max(end[seeds].std(), 1e-9))


@claim("variance-is-early", "Appendix E, Figure 8", "Most of the spread over seeds is at the beginning",
       "figure8.csv: standard deviation over seeds after 100 samples ÷ at the end, λ = 0.1; above 2", "mostly early")
def variance_is_early(results):
    found = {column: spread_ratio(results, column, 100) for column in ("accuracy", "demographic_parity")}
    told = "; ".join(f"{column} {number(each)}" for column, each in found.items())
    return Judgement(f"times as large: {told}", found["accuracy"],
                     together(HOLDS if each.low > 2 else NOT if each.high < 2 else OPEN for each in found.values()))


@claim("variance-minimal-at-1000", "Appendix E, Figure 8", "After about 1,000 samples the spread is minimal",
       "figure8.csv: standard deviation over seeds after 1,000 samples ÷ at the end, λ = 0.1; at most 2 is minimal",
       "minimal")
def variance_minimal(results):
    found = {column: spread_ratio(results, column, 1000) for column in ("accuracy", "demographic_parity")}
    told = "; ".join(f"{column} {number(each)}" for column, each in found.items())
    return Judgement(f"times as large as at the end: {told}", found["accuracy"],
                     together(HOLDS if each.high <= 2 else NOT if each.low > 2 else OPEN for each in found.values()))


@claim("adversarial-above-majority", "Appendix E, Figure 9", "With the majority label first Aranyani is well above "
       "Majority",
       "figure9.csv: accuracy less Majority's at the same gap, each λ above 0, over seeds", "significantly better")
def adversarial(results):
    runs = results.ends("figure9", method="aranyani", order="majority_first")
    found = Cloud(runs).over_majority(results.constant("figure9", "adult"))
    verdicts = [positive(Interval.of(row)) for _, row in found.iterrows()]
    mean = Interval.of(found.mean())
    told = ", ".join(f"λ={weight:g} {100 * row.mean():+.1f}" for weight, row in found.iterrows())
    return Judgement(f"{verdicts.count(HOLDS)} of {len(verdicts)} λ above: {told}", mean.times(100), together(verdicts))


for _order, _text in (("majority_first", "majority"), ("minority_first", "minority")):
    @claim(f"adversarial-dip-{_text}-first", "Appendix E, Figure 9",
           f"With the {_text} label first accuracy dips when the other label comes, and recovers",
           "figure9.csv: accuracy so far, its lowest value after the peak less the peak, and the end less the lowest, "
           "mean over λ, over seeds", "a sharp dip, then better")
    def adversarial_dip(results, order=_order):
        runs = select(results["figure9"], method="aranyani", order=order)
        dips, recoveries = [], []
        for _, own in runs[runs["step"] >= WARM].groupby("seed"):
            curve = own.groupby("step")["accuracy"].mean()
            lowest = curve.loc[curve.idxmax():].min()
            dips.append(lowest - curve.max())
            recoveries.append(curve.iloc[-1] - lowest)
        dip, recovery = Interval.of(dips), Interval.of(recoveries)
        return Judgement(f"dip {points(dip)}, recovery {points(recovery)}", dip.times(100),
                         together([negative(dip), positive(recovery)]))


@claim("adversarial-weight-controls", "Appendix E, Figure 9", "λ controls accuracy in adversarial streams too",
       "figure9.csv: rank correlation of λ and accuracy at the end, majority label first, over seeds", "controls")
def adversarial_controls(results):
    found = rising(by_setting(results.ends("figure9", method="aranyani", order="majority_first"), "fairness_weight",
                              "accuracy"))
    return Judgement(f"rank correlation {number(found)}", found, negative(found))
