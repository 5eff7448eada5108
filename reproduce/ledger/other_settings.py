"""Claims of Appendix E about other settings: feedback, notions, batches, penalties, less data, held-out rows."""

import numpy as np
import pandas as pd

from harness.intervals import Interval
from harness.plots import select
from ledger.claim import (
    HOLDS,
    NOT,
    OPEN,
    PART,
    Judgement,
    all_of,
    by_share,
    claim,
    negative,
    number,
    points,
    positive,
    together,
    within,
)
from ledger.results_data import Cloud, area_difference, by_setting, rank_correlation_of, rising

for _way, _text in (("released", "unscaled, as released"), ("standardized", "standardized")):
    @claim(f"limited-feedback-{_way}", "Appendix E, Figure 10",
           f"With feedback only where ŷ = 1 accuracy is lower (COMPAS, {_text})",
           "figure10.csv: accuracy with limited feedback less with full feedback, mean over λ, paired over "
           "seeds", "lower",
           "" if _way == "released" else "the released code does not scale COMPAS")
    def limited_feedback(results, way=_way):
        runs = {when: by_setting(results.ends("figure10", dataset="compas", method="aranyani", preprocessing=way,
                                              update_when=when), "fairness_weight", "accuracy")
                for when in ("always", "predicted_positive")}
        found = Interval.of((runs["predicted_positive"] - runs["always"]).mean())
        return Judgement(points(found), found.times(100), negative(found))


@claim("opportunity-above-majority", "Appendix E, Figure 10", "Under equality of opportunity Aranyani is well above "
       "Majority",
       "figure10.csv: accuracy less Majority's at the same equal-opportunity gap, each λ above 0, over "
       "seeds", "much better")
def opportunity(results):
    runs = results.ends("figure10", dataset="adult", notion="equal_opportunity")
    cloud = Cloud(select(runs, method="aranyani"), gap="equal_opportunity")
    found = cloud.over_majority(results.constant("figure10", "adult"))
    verdicts = [positive(Interval.of(row)) for _, row in found.iterrows()]
    mean = Interval.of(found.mean())
    return Judgement(f"{verdicts.count(HOLDS)} of {len(verdicts)} λ above; on average {points(mean)}", mean.times(100),
                     together(verdicts))


@claim("batches-best", "Appendix E, Figure 10", "With ten samples a step Aranyani has the best trade-off",
       "figure10.csv: area below the hull, Adult at ten samples a step, less Leaf's, MLP's and Majority's, paired over "
       "seeds", "best", "Leaf and MLP with the right gradient")
def batches_best(results):
    def cloud(method):
        return results.cloud("figure10", method, dataset="adult", samples_per_step=10, notion="demographic_parity")

    ours, constant = cloud("aranyani"), results.constant("figure10", "adult")
    until = ours.unfair(ours.seeds)[0]
    found = {name: area_difference(ours, cloud(name), until, constant) for name in ("leaf", "mlp")}
    found["majority"] = Interval.of_statistic(ours.seeds, lambda seeds: ours.area(seeds, until, constant) - (
        constant + ours.unfair(seeds)[1]) / 2)
    closest = min(found, key=lambda name: found[name].mean)
    told = "; ".join(f"over {name} {points(each)}" for name, each in found.items())
    return Judgement(told, found[closest].times(100), all_of(map(positive, found.values())))


def l2_and_huber(results) -> tuple[Cloud, Cloud, float]:
    clouds = [results.cloud("figure11", "aranyani", dataset="adult", rule=rule) for rule in ("l2", "released")]
    return *clouds, results.constant("figure11", "adult")


@claim("l2-similar", "Appendix E, Figure 11", "L2 in Huber's place gives a similar curve",
       "figure11.csv: area below the hull, L2 less Huber, Adult, paired over seeds; within half a point", "similar")
def l2_similar(results):
    l2, huber, constant = l2_and_huber(results)
    found = area_difference(l2, huber, huber.unfair(huber.seeds)[0], constant)
    return Judgement(points(found), found.times(100), within(found, 0.005))


@claim("l2-less-fair", "Appendix E, Figure 11", "L2 cannot become as fair as Huber",
       "figure11.csv: smallest mean gap over λ, L2 (λ up to 1,000) less Huber (λ up to 100), paired over seeds",
       "cannot go as low", "L2 has larger λ here, since its gradient shrinks with the gap")
def l2_less_fair(results):
    l2, huber, _ = l2_and_huber(results)
    found = Interval.of_statistic(l2.seeds, lambda seeds: l2.smallest_gap(seeds) - huber.smallest_gap(seeds))
    return Judgement(f"smallest gap {l2.smallest_gap(l2.seeds):.3f} against {huber.smallest_gap(huber.seeds):.3f}; "
                     f"difference {number(found)}", found, positive(found))


for _way, _text in (("released", "unscaled, as released"), ("standardized", "standardized")):
    @claim(f"less-data-worse-{_way}", "Appendix E, Figure 11", f"The trade-off gets worse with less data (COMPAS, "
           f"{_text})",
           "figure11.csv: rank correlation of the share of the rows and the most accurate λ's mean accuracy, over "
           "seeds",
           "gradually worse", "" if _way == "released" else "the released code does not scale COMPAS")
    def less_data(results, way=_way):
        runs = results.ends("figure11", dataset="compas", method="aranyani", preprocessing=way)
        clouds = {fraction: Cloud(own) for fraction, own in runs.groupby("fraction")}
        seeds = next(iter(clouds.values())).seeds

        def correlation(drawn):
            return rank_correlation_of(list(clouds), [cloud.points(drawn)[:, 1].max() for cloud in clouds.values()])

        found = Interval.of_statistic(seeds, correlation)
        told = ", ".join(f"{100 * fraction:g} %: {100 * cloud.points(seeds)[:, 1].max():.1f}"
                         for fraction, cloud in clouds.items())
        return Judgement(f"best accuracy % by share {told}; rank correlation {number(found)}", found, positive(found))


def held_out(results) -> pd.DataFrame:
    records = results["figure12"]
    return records[(records["held_out"] > 0) & (records["method"] == "aranyani")]


@claim("held-out-accuracy-grows", "Appendix E, Figure 12", "On held-out rows accuracy improves over time",
       "figure12.csv: rank correlation of samples seen and held-out accuracy, mean over λ, over seeds", "gradually")
def held_out_grows(results):
    found = rising(by_setting(held_out(results), "step", "held_out_accuracy"))
    return Judgement(f"rank correlation {number(found)}", found, positive(found))


@claim("held-out-parity-varies", "Appendix E, Figure 12", "On held-out rows the gap varies more than accuracy does",
       "figure12.csv: standard deviation along the second half of the stream, gap less accuracy, mean over λ, over "
       "seeds",
       "a slightly higher variance")
def held_out_varies(results):
    late = held_out(results)
    late = late[late["step"] > late["step"].max() / 2]
    spreads = late.groupby(["seed", "fairness_weight"])[["held_out_accuracy", "held_out_demographic_parity"]].std()
    found = Interval.of((spreads["held_out_demographic_parity"] - spreads["held_out_accuracy"]).groupby("seed").mean())
    return Judgement(f"{spreads['held_out_demographic_parity'].mean():.4f} against "
                     f"{spreads['held_out_accuracy'].mean():.4f}", found, positive(found))


@claim("held-out-weight-controls", "Appendix E, Figure 12", "λ controls the gap on held-out rows",
       "figure12.csv: rank correlation of λ and the held-out gap at the end, over seeds", "still possible")
def held_out_controls(results):
    runs = held_out(results)
    values = by_setting(runs[runs["step"] == runs["step"].max()], "fairness_weight", "held_out_demographic_parity")
    found = rising(values)
    told = ", ".join(f"λ={weight:g} {gap:.3f}" for weight, gap in values.mean(axis=1).items())
    return Judgement(f"{told}; rank correlation {number(found)}", found, negative(found))


@claim("held-out-above-majority", "Appendix E, Figure 12", "On held-out rows Aranyani is above Majority all along",
       "figure12.csv: share of checkpoints and λ above 0 whose means lie above the line from the constant answer to λ "
       "= 0; 95 % is all along", "consistently")
def held_out_above(results):
    runs = held_out(results)
    constant = runs["held_out_majority"].iloc[0]

    gaps, accuracies = (np.stack([own.pivot_table(index="step", columns="fairness_weight", values=column)
                                  for _, own in runs.groupby("seed")])  # (seed, step, λ), of which the first λ is 0
                        for column in ("held_out_demographic_parity", "held_out_accuracy"))

    def share(seeds):
        gap, accuracy = gaps[seeds].mean(axis=0), accuracies[seeds].mean(axis=0)
        along = np.clip(gap / np.maximum(gap[:, :1], 1e-12), None, 1)
        return float((accuracy > constant + along * (accuracy[:, :1] - constant))[:, 1:].mean())

    found = Interval.of_statistic(range(len(gaps)), share)
    return Judgement(f"{100 * found.mean:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})", found.times(100),
                     by_share(found.mean))


@claim("compas-varies", "Section 5.1", "Results vary much on COMPAS",
       "preprocessing.csv: standard deviation over seeds of accuracy, mean over λ, COMPAS ÷ Adult, both as released; "
       "above 1",
       "high")
def compas_varies(results):
    ratio = spread_between(results, ("compas", "released"), ("adult", "released"))
    return Judgement(f"{number(ratio)} times Adult's", ratio,
                     HOLDS if ratio.low > 1 else NOT if ratio.high < 1 else OPEN)


@claim("compas-varies-for-length", "Section 5.1", "COMPAS varies because it has few instances",
       "preprocessing.csv: standard deviation over seeds, COMPAS unscaled ÷ COMPAS standardized, which is as short; "
       "about 1 if length is the cause", "could be", "scaling, not length")
def compas_length(results):
    ratio = spread_between(results, ("compas", "released"), ("compas", "standardized"))
    return Judgement(f"unscaled varies {number(ratio)} times as much as standardized", ratio,
                     NOT if ratio.low > 1.5 else HOLDS if ratio.high < 1.5 else PART)


def spread_between(results, first: tuple[str, str], second: tuple[str, str]) -> Interval:
    """Standard deviation over seeds of accuracy, the mean over λ, of one way to prepare a dataset ÷ of another."""
    wide = [by_setting(results.ends("preprocessing", dataset=dataset, preprocessing=way, method="aranyani"),
                       "fairness_weight", "accuracy") for dataset, way in (first, second)]
    first_runs, second_runs = (each.to_numpy() for each in wide)
    return Interval.of_statistic(range(first_runs.shape[1]), lambda seeds: first_runs[:, seeds].std(axis=1).mean()
                                 / max(second_runs[:, seeds].std(axis=1).mean(), 1e-9))
