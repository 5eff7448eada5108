"""Ours against every other contender of its class, case by case: differences of accuracy order by order."""

import pandas as pd

from harness.field_table import cases, judged
from harness.intervals import Interval
from harness.registry import method

OURS = {False: "recommended", True: "recommended_by_group"}  # whether the group is needed to predict → ours
BETTER, WORSE, SAME = "better", "worse", "not told apart"
ALONE, MISSED, NEITHER = "keeps the gap alone", "misses the gap alone", "neither keeps the gap"
VERDICTS = (BETTER, WORSE, SAME, ALONE, MISSED, NEITHER)


def verdict(difference: Interval) -> str:
    """By the 95 % interval of first − second."""
    return BETTER if difference.above_zero else WORSE if difference.below_zero else SAME


def field_pairs(records: pd.DataFrame) -> pd.DataFrame:
    """A row for each case and contender, from records that `with_costs` has seen; accuracy decides where both keep
    the gap."""
    found = []
    for case, runs in cases(records):
        by_method = {name: own.set_index("seed") for name, own in runs.groupby("method", sort=False)}
        keeps = {name: judged(own, method(name), case["notion"], case["target"])["keeps"]
                 for name, own in by_method.items()}
        for name, own in by_method.items():
            ours = OURS[method(name).group_needed == "to predict"]
            if name == ours or ours not in by_method:
                continue
            difference = Interval.student_difference(by_method[ours]["accuracy"], own["accuracy"])
            told = {(True, True): verdict(difference), (True, False): ALONE, (False, True): MISSED,
                    (False, False): NEITHER}[keeps[ours], keeps[name]]
            seeds = int((by_method[ours]["accuracy"] - own["accuracy"]).notna().sum())  # that neither diverged with
            found.append(case | {"first": ours, "second": name, "difference": difference.mean, "low": difference.low,
                                 "high": difference.high, "seeds": seeds, "told": told})
    return pd.DataFrame(found)


def counted(pairs: pd.DataFrame) -> pd.DataFrame:
    """For each pair the number of cases of every verdict, and the mean difference where both keep the gap."""
    counts = pairs.groupby(["first", "second"], sort=False)["told"].value_counts().unstack(fill_value=0)
    both = pairs[pairs["told"].isin([BETTER, WORSE, SAME])].groupby(["first", "second"])["difference"].mean()
    return counts.reindex(columns=list(VERDICTS), fill_value=0).assign(difference=both).reset_index()
