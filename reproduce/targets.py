"""Is a target kept? ParityTarget and GroupThresholds on five streams, beside the best fixed λ of hindsight."""

import matplotlib.pyplot as plt

from harness import plots
from harness.figure import Figure
from harness.kept_targets import FORGETS, STEERED, STREAMS, WITHIN, kept, shares
from harness.scales import FIVE, FULL
from methods.targets import TARGETS

WEIGHTS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0)


def experiments(scale=FULL):
    """Every stream by every way to keep a target, and by fixed λ."""
    found = []
    for dataset, preprocessing in STREAMS:
        here = {"preprocessing": preprocessing, "seeds": FIVE}
        found += [scale.experiment(dataset, TARGETS, method=method, **here) for method in STEERED]
        found += [scale.experiment(dataset, WEIGHTS, method=method, **FORGETS, **here)
                  for method in ("aranyani", "output")]
        found.append(scale.experiment(dataset, (0.0,), **here))  # which brings the constant answer
    return found


def draw(records):
    """A column a stream: above the gaps by target, below the accuracy, with the best fixed λ as a line."""
    table, ends = kept(records), plots.last_records(records)
    names = list(dict.fromkeys(table["stream"]))
    with plt.rc_context(plots.STYLE | {"font.size": 10}):
        figure, panels = plt.subplots(2, len(names), figsize=(3.1 * len(names) + 0.8, 6.6), layout="constrained",
                                      squeeze=False)
        for (above, below), name in zip(panels.T, names, strict=True):
            here = plots.select(table, stream=name)
            targets = sorted(here["target"].unique())
            above.plot(targets, targets, color="#888888", linewidth=1, label="the target")
            above.fill_between(targets, 0, [WITHIN * t for t in targets], color="#888888", alpha=0.15, linewidth=0)
            for shift, method in enumerate(STEERED):
                runs = plots.select(here, method=method).sort_values("target")
                style: dict = plots.style_of(method) | {"linestyle": "none"}
                places = runs["target"] + 0.002 * (shift - 1.5)  # side by side
                above.plot(places, runs["demographic_parity"], **style)
                above.plot(places, runs["late_demographic_parity"],
                           **style | {"markerfacecolor": "white", "label": None})
                below.plot(runs["demographic_parity"], 100 * runs["accuracy"], **style)
            for method, line in (("output", "-"), ("aranyani", ":")):
                frontier(below, ends, here.iloc[0], method, line)
            above.set(title=name, xticks=targets, yticks=targets, xlabel="target", ylim=(0, 1.5 * max(TARGETS)))
            below.set(xlabel="gap of all rows", xlim=(0, None))
            below.locator_params(axis="x", nbins=4)
        panels[0, 0].set_ylabel("gap (white: second half)")
        panels[1, 0].set_ylabel("accuracy, %")
        handles = [*panels[0, 0].get_legend_handles_labels()[0], *panels[1, 0].get_lines()[-2:]]
        names = [*panels[0, 0].get_legend_handles_labels()[1], "fixed λ, output", "fixed λ, nodes"]
        figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure


def frontier(axes, ends, stream, method, line):
    """Accuracy over the gap of fixed λ, the means over seeds."""
    runs = plots.select(ends, dataset=stream["dataset"], preprocessing=stream["preprocessing"], method=method,
                        **FORGETS)
    means = runs.groupby("fairness_weight")[["demographic_parity", "accuracy"]].mean().sort_values(
        "demographic_parity")
    axes.plot(means["demographic_parity"], 100 * means["accuracy"], line, color="#555555", linewidth=1)


def read(records):
    table = kept(records)
    told = []
    for method, rows in table.groupby("method", sort=False):
        parts = "; ".join(f"{name} {share:.0%}" for name, share in shares(rows).items())
        told.append(f"{plots.label_of(method)}: {parts}; {rows['points_to_best_fixed'].mean():+.2f} points against "
                    "the best fixed λ")
    return (f"Share of runs whose gap is at most {WITHIN} × the target, of all streams and targets. "
            + ". ".join(told) + ".")


FIGURE = Figure("targets", __doc__, experiments, draw, read, in_all=False, ends=True)

if __name__ == "__main__":
    FIGURE.main()
