"""The picture of a soak: memory, speed, fairness and the disk along the time."""

import numpy as np

from harness.plots import SERIES, STYLE, plt
from trials.soak_verdict import longest_life, slope


def draw(records):
    """Six axes; dotted lines are kills."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, 3, figsize=(15, 6.5), sharex=True, layout="constrained")
        for draw_one, axis in zip((memory, speed, times, gaps, feedback, disk), axes.flat, strict=True):
            draw_one(axis, records)
            for minute in records.loc[records["kills"].diff() > 0, "minute"]:
                axis.axvline(minute, color="#999999", linewidth=0.7, linestyle=":", zorder=0)
            if axis.get_yscale() == "linear":
                axis.set_ylim(bottom=0)
        for axis in axes[1]:
            axis.set_xlabel("minutes")
        return figure


def memory(axis, records):
    for _, life in records.groupby("life"):
        axis.plot(life["minute"], life["resident_mb"], marker=".", markersize=3, color=SERIES[2])
    life = longest_life(records)
    grown, low, high, middle = slope(life)
    if np.isfinite(grown):
        axis.plot(life["minute"], middle + grown * (life["minute"] - life["minute"].median()) / 60, color=SERIES[1],
                  label=f"{grown:+.1f} MB/h ({low:+.1f} to {high:+.1f})")
        axis.legend(loc="lower right")
    axis.set_title("Resident memory of the service, MB", loc="left")


def speed(axis, records):
    for kind, color in (("predict", SERIES[2]), ("feedback", SERIES[0])):
        axis.plot(records["minute"], records[f"{kind}_per_second"], color=color, label=kind)
    axis.legend(fontsize=8)
    axis.set_title("Requests a second, line by line", loc="left")


def times(axis, records):
    for kind, color in (("predict", SERIES[2]), ("feedback", SERIES[0])):
        axis.plot(records["minute"], records[f"{kind}_p50_ms"], color=color, label=f"{kind}, median")
        axis.plot(records["minute"], records[f"{kind}_p99_ms"], color=color, linestyle="--",
                  label=f"{kind}, 99 of 100 within")
    axis.set_yscale("log")
    axis.set_ylim(top=10 * axis.get_ylim()[1])
    axis.legend(fontsize=8, loc="upper right", ncols=2)
    axis.set_title("Time of an answer, ms", loc="left")


def feedback(axis, records):
    for name, color in (("acknowledged", SERIES[0]), ("sent_twice", SERIES[2]), ("late", SERIES[3]),
                        ("never", SERIES[4]), ("refused", SERIES[1])):
        axis.plot(records["minute"], records[name] / 1000, color=color, label=name.replace("_", " "))
    axis.legend(fontsize=8)
    axis.set_title("Feedback and bad requests, thousands", loc="left")


def gaps(axis, records):
    axis.plot(records["minute"], records["gap_of_labels"].abs(), color="#BBBBBB", label="of the labels")
    axis.plot(records["minute"], records["gap_given"], color=SERIES[3], label="of the decisions, line by line")
    axis.plot(records["minute"], records["recent_gap"], color=SERIES[0], label="of late, as the service sees it")
    axis.plot(records["minute"], records["gap"], color=SERIES[2], linewidth=2, label="of all decisions so far")
    axis.axhline(records["target"].iloc[-1], color=SERIES[1], linestyle="--", label="target")
    axis.legend(fontsize=8)
    axis.set_title("Gap between men and women", loc="left")


def disk(axis, records):
    parts = ["journal_mb", "predictions_mb", "ids_mb", "saves_mb"]
    axis.stackplot(records["minute"], records[parts].to_numpy().T, labels=[part.removesuffix("_mb") for part in parts],
                   colors=[SERIES[number] for number in (0, 3, 2, 4)], alpha=0.8)
    axis.legend(fontsize=8, loc="lower right")
    axis.set_title("On the disk, MB", loc="left")
