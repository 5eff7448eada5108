"""Figure 10: limited feedback on COMPAS, equality of opportunity and ten samples a step on Adult."""

import matplotlib.pyplot as plt

from harness import grids, plots
from harness.figure import Figure
from harness.matching import accuracy_at

FULL_FEEDBACK = {"color": "#56B4E9", "marker": "^"}


def parts_of(records):
    """The runs of the three panels at the end of the stream."""
    ends = plots.last_records(records)
    adult = plots.select(ends, dataset="adult")
    return (plots.select(ends, dataset="compas"), plots.select(adult, notion="equal_opportunity"),
            plots.select(adult, notion="demographic_parity"))


def draw(records):
    limited, opportunity, batches = parts_of(records)
    with plt.rc_context(plots.STYLE):
        figure, (left, center, right) = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained")
        plots.trade_off(left, limited, method="aranyani", update_when="always", label="full feedback", filled=False,
                        style=FULL_FEEDBACK)
        plots.trade_off(left, limited, method="aranyani", update_when="predicted_positive", label="only where ŷ = 1")
        plots.finish_trade_off(left, "COMPAS, limited feedback")
        plots.majority_line(center, opportunity, gap="equal_opportunity")
        plots.trade_off(center, opportunity, method="aranyani", gap="equal_opportunity")
        plots.finish_trade_off(center, "Adult, equality of opportunity", gap_name="Equal opportunity")
        plots.majority_line(right, plots.select(batches, samples_per_step=10))
        plots.trade_off(right, batches, method="aranyani", samples_per_step=1, label="one sample a step", filled=False,
                        style=FULL_FEEDBACK)
        plots.trade_off(right, batches, method="aranyani", samples_per_step=10, label="ten samples a step")
        plots.finish_trade_off(right, "Adult, ten samples a step")
        for axes in (left, center, right):
            axes.legend(fontsize=9)
    return figure


def read(records):
    limited, opportunity, batches = parts_of(records)

    def best(runs, **where):
        chosen = plots.select(runs, method="aranyani", **where)
        return 100 * chosen.groupby("fairness_weight")["accuracy"].mean().max()

    def at(runs, method, gap, **where):
        points = plots.select(runs, method=method, **where)
        by = ["fairness_weight"] if method == "aranyani" else ["probability"]
        means = points.groupby(by)[["equal_opportunity", "accuracy"]].mean()
        return 100 * accuracy_at(means.to_numpy(), gap)

    gap = plots.select(opportunity, method="majority", probability=0.5)["equal_opportunity"].mean()
    return (f"COMPAS: the best accuracy over λ is {best(limited, update_when='predicted_positive'):.1f} % with "
            f"feedback only where ŷ = 1 and {best(limited, update_when='always'):.1f} % with all of it. Adult at an "
            f"equal opportunity gap of {gap:.3f}: Aranyani {at(opportunity, 'aranyani', gap):.1f} %, Majority "
            f"{at(opportunity, 'majority', gap):.1f} %. Ten samples a step, a tenth of the updates: best accuracy "
            f"{best(batches, samples_per_step=10):.1f} % against {best(batches, samples_per_step=1):.1f} %.")


FIGURE = Figure("figure10", __doc__, grids.figure10, draw, read)

if __name__ == "__main__":
    FIGURE.main()
