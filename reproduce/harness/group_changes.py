"""What the settings of the study on small groups change, against λ = 0 on the same stream with the same seed."""

import numpy as np
import pandas as pd
from scipy import stats

from harness import plots
from harness.group_study import STREAMS

GAPS = {"gap": "over the whole stream", "late": "in its second half", "window": "in windows"}
COUNTS = 0.01  # a change of the gap that is worth a word: the knee of the penalty, below which a gap is as good as none
BASE = ["stream", "share", "seed"]
SETTING = ["level", "decay", "forget", "chance"]


def runs(records: pd.DataFrame) -> pd.DataFrame:
    """One row a run: which stream, share, level and setting; accuracy and the three gaps.

    Where rows of the large groups were held out, their gap, averaged along the stream, is the only one.
    """
    frames = []
    for name, (settings, _) in STREAMS.items():
        here = {"order": "file", "held_out": 0.0} | {
            key: value for key, value in settings.items() if key in ("dataset", "groups", "order", "held_out")}
        rows = plots.select(records, **here)
        if rows.empty:
            continue
        key = ["share", *SETTING[1:], "method", "fairness_weight", "seed"]
        last = rows.groupby(key, dropna=False).last().reset_index()
        found = last.assign(stream=name, level=last["method"], gap=last["demographic_parity"],
                            late=last["late_demographic_parity"], window=last["window_demographic_parity"])
        if settings.get("held_out"):
            held_out = rows.groupby(key, dropna=False)["held_out_demographic_parity"].mean().reset_index(drop=True)
            found = found.assign(gap=held_out, late=np.nan, window=np.nan)
        frames.append(found[[*BASE, *SETTING, "fairness_weight", "accuracy", *GAPS]])
    return pd.concat(frames, ignore_index=True).fillna({"share": 1.0, "decay": 0.0})  # that both can be grouped by


def paired(found: pd.DataFrame) -> pd.DataFrame:
    """The runs with λ > 0, each minus the one with λ = 0 on the same stream with the same seed."""
    unfair = found[found["fairness_weight"] == 0].set_index(BASE)[["accuracy", *GAPS]]
    fair = found[found["fairness_weight"] > 0].set_index([*BASE, *SETTING])[["accuracy", *GAPS]]
    return (fair - unfair.reindex(fair.index.droplevel(SETTING)).set_axis(fair.index)).reset_index()


def changes(differences: pd.DataFrame) -> pd.DataFrame:
    """One row a place (stream and share), setting and quantity: mean change, and half of its 95 % interval."""
    long = differences.melt([*BASE, *SETTING], ["accuracy", *GAPS], "quantity", "change").dropna(subset="change")
    by_place = long.groupby(["stream", "share", *SETTING, "quantity"], sort=False)["change"]
    table = by_place.agg(["mean", "std", "count"]).reset_index()
    quantile = stats.t.ppf(0.975, np.maximum(table["count"] - 1, 1))
    half = (quantile * table["std"] / np.sqrt(table["count"])).fillna(np.inf)  # of one seed nothing can be told
    beyond = (table["mean"].abs() > half) & (table["mean"].abs() > COUNTS)
    return table.assign(half=half, verdict=np.where(beyond, np.sign(table["mean"]), 0))
