"""Figure 10: limited feedback on COMPAS, equality of opportunity and ten samples a step on Adult."""

import matplotlib.pyplot as plt

from harness import grids, plots, readings
from harness.figure import Figure
from harness.matching import at_gap, constant_answer

FULL_FEEDBACK = {"color": "#56B4E9", "marker": "^"}
WAYS = {"released": "unscaled, as released", "standardized": "standardized"}


def parts_of(records):
    """The runs of the panels at the end of the stream: COMPAS, and Adult with either notion."""
    ends = plots.last_records(records)
    adult = plots.select(ends, dataset="adult")
    return (plots.select(ends, dataset="compas"), plots.select(adult, notion="equal_opportunity"),
            plots.select(adult, notion="demographic_parity"))


def draw(records):
    limited, opportunity, batches = parts_of(records)
    with plt.rc_context(plots.STYLE):
        figure, panels = plt.subplots(2, 2, figsize=(11.5, 9), layout="constrained")
        for axes, (way, told) in zip(panels[0], WAYS.items(), strict=True):
            here = plots.select(limited, preprocessing=way)
            plots.majority_line(axes, plots.select(here, update_when="always"))
            plots.trade_off(axes, here, method="aranyani", update_when="always", label="full feedback", filled=False,
                            style=FULL_FEEDBACK, crowded=True)
            plots.trade_off(axes, here, method="aranyani", update_when="predicted_positive", label="only where ŷ = 1",
                            crowded=True)
            plots.finish_trade_off(axes, f"COMPAS, limited feedback ({told})")
        left, right = panels[1]
        plots.majority_line(left, opportunity, gap="equal_opportunity")
        plots.trade_off(left, opportunity, method="aranyani", gap="equal_opportunity")
        plots.finish_trade_off(left, "Adult, equality of opportunity", gap_name="Equal opportunity")
        of_ten = plots.select(batches, samples_per_step=10)
        plots.majority_line(right, of_ten)
        plots.trade_off(right, batches, method="aranyani", samples_per_step=1, label="Aranyani, one sample a step",
                        filled=False, style=FULL_FEEDBACK)
        for method in ("mlp", "leaf", "aranyani"):
            plots.trade_off(right, of_ten, method=method, label=f"{plots.label_of(method)}, ten samples a step")
        plots.look_at_the_top(right, batches)
        plots.finish_trade_off(right, "Adult, ten samples a step")
        for axes in panels.ravel():
            axes.legend(fontsize=9, loc="lower left")
    return figure


def best(runs, **where):
    """The accuracy of the most accurate λ, in %."""
    chosen = plots.select(runs, method="aranyani", **where)
    return 100 * chosen.groupby("fairness_weight")["accuracy"].mean().max()


def read(records, gap=0.05):
    limited, opportunity, batches = parts_of(records)
    sentences = [f"COMPAS, {told}: the best accuracy over λ is "
                 f"{best(limited, preprocessing=way, update_when='predicted_positive'):.1f} % with feedback only where "
                 f"ŷ = 1 and {best(limited, preprocessing=way, update_when='always'):.1f} % with all of it."
                 for way, told in WAYS.items()]
    half = plots.select(opportunity, method="majority", probability=0.5)["equal_opportunity"].mean()
    constant, ours = constant_answer(opportunity), plots.select(opportunity, method="aranyani")
    at_half = {name: readings.percent_interval(at_gap(runs, half, constant, by="equal_opportunity")["accuracy"])
               for name, runs in (("Aranyani", ours), ("Majority", plots.select(ours, fairness_weight=0.0)))}
    sentences.append(f"Adult at an equal opportunity gap of {half:.3f}: "
                     + ", ".join(f"{name} {told}" for name, told in at_half.items()) + ".")
    of_ten = plots.select(batches, samples_per_step=10)
    constant = constant_answer(of_ten)
    told = ", ".join(f"{plots.label_of(method)} {readings.percent_interval(at_gap(runs, gap, constant)['accuracy'])}"
                     for method, runs in of_ten[of_ten["method"] != "majority"].groupby("method", sort=False))
    sentences.append(f"Ten samples a step, a tenth of the updates, at a demographic parity of {gap}: {told}; the best "
                     f"accuracy of Aranyani is {best(batches, samples_per_step=10):.1f} %, with one sample a step "
                     f"{best(batches, samples_per_step=1):.1f} %.")
    return " ".join(sentences)


FIGURE = Figure("figure10", __doc__, grids.figure10, draw, read, ends=True)

if __name__ == "__main__":
    FIGURE.main()
