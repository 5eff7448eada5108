"""Figure 1: a soft-routed oblique tree and a forest of three, drawn from a model that has learned Adult."""

import quiet  # noqa: F401

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.files import whole_file
from harness import plots
from harness.figure import Figure
from harness.readings import write_reading
from harness.scales import FULL
from harness.sums import note_sums

NUM_TREES, HEIGHT = 3, 2


def example(num_rows=None):
    """The parts of a trained forest's answer to one sample, one row a node or leaf.

    For a node `probability` is n, that of going left; for a leaf it is p_l, that of arriving, and `label_1` is
    the leaf's own answer. The sample is the one whose three trees disagree most.
    """
    stream = ar.datasets.load("adult")[:num_rows]
    model = ar.Aranyani(num_trees=NUM_TREES, height=HEIGHT, fairness_weight=0.1, seed=0)
    model.predict_then_learn(stream.features, stream.labels, stream.groups)
    rows, forest = stream.features[-1000:], model.forest
    answers = np.exp(forest.leaf_logits.numpy())[..., 1] / np.exp(forest.leaf_logits.numpy()).sum(axis=-1)
    leaves = forest.leaf_probabilities(rows).numpy()  # (row, tree, leaf)
    trees = (leaves * answers).sum(axis=-1)  # (row, tree)
    chosen = trees.std(axis=1).argmax()
    decisions = forest.node_decisions(rows[chosen : chosen + 1]).numpy()[0]
    parts = [{"tree": tree, "kind": "node", "index": node, "probability": decisions[tree, node]}
             for tree in range(NUM_TREES) for node in range(forest.num_nodes)]
    parts += [{"tree": tree, "kind": "leaf", "index": leaf, "probability": leaves[chosen, tree, leaf],
               "label_1": answers[tree, leaf]} for tree in range(NUM_TREES) for leaf in range(forest.num_leaves)]
    said = model.predict(rows[chosen : chosen + 1], verbose=0)[0, 1]
    return pd.DataFrame(parts).assign(forest_label_1=said)


def tree_answers(parts):
    """f^t(x) of every tree: Σ_l p_l·θ_l."""
    leaves = parts[parts["kind"] == "leaf"]
    return (leaves["probability"] * leaves["label_1"]).groupby(leaves["tree"]).sum()


def draw_tree(axes, parts, *, names=False):
    """Circles are nodes with n, boxes are leaves with p_l; the wider a line, the likelier the way."""
    nodes, leaves = (parts[parts["kind"] == kind].set_index("index") for kind in ("node", "leaf"))
    where = {}
    for depth in range(HEIGHT + 1):
        for k in range(2**depth):
            where[2**depth - 1 + k] = ((k + 0.5) / 2**depth, -depth)
    reach = {0: 1.0}
    for node, decision in nodes["probability"].items():
        for child, share in ((2 * node + 1, decision), (2 * node + 2, 1 - decision)):
            reach[child] = reach[node] * share
            (x, y), (x_child, y_child) = where[node], where[child]
            axes.plot([x, x_child], [y, y_child], color="#009E73", linewidth=1 + 7 * reach[child], alpha=0.6, zorder=1,
                      solid_capstyle="round")
        label = f"$n_{{{node + 1}}}$ = {decision:.2f}" if names else f"{decision:.2f}"
        axes.annotate(label, where[node], ha="center", va="center", fontsize=11 if names else 8, zorder=3,
                      bbox={"boxstyle": "circle,pad=0.35" if not names else "round,pad=0.5", "facecolor": "white",
                            "edgecolor": "#009E73"})
    for leaf, row in leaves.iterrows():
        text = (f"$p_{{{leaf + 1}}}$ = {row['probability']:.2f}\nanswer {row['label_1']:.2f}" if names
                else f"{row['probability']:.2f}")
        box = {"boxstyle": f"square,pad={0.4 if names else 0.2}", "facecolor": "#FFF4D6", "edgecolor": "#E69F00"}
        axes.annotate(text, where[leaf + 2**HEIGHT - 1], ha="center", va="center", fontsize=10 if names else 8,
                      zorder=3, bbox=box)
    axes.set(xlim=(-0.05, 1.05), ylim=(-HEIGHT - 0.45, 0.4))
    axes.axis("off")
    return axes


def draw(parts):
    answers = tree_answers(parts)
    with plt.rc_context(plots.STYLE):
        figure = plt.figure(figsize=(14, 5), layout="constrained")
        left, right = figure.subfigures(1, 2, width_ratios=(1, 1.25))
        axes = draw_tree(left.subplots(), parts[parts["tree"] == 0], names=True)
        axes.set_title("One tree: left with probability n, right with 1 − n")
        axes.annotate(f"$f^1(x)$ = Σ p · answer = {answers[0]:.2f}", (0.5, -0.02), xycoords="axes fraction",
                      ha="center", fontsize=13)
        panels = right.subplots(1, NUM_TREES)
        for tree, axes in enumerate(panels):
            draw_tree(axes, parts[parts["tree"] == tree])
            axes.set_title(f"$f^{tree + 1}(x)$ = {answers[tree]:.2f}")
        right.suptitle("The forest: the mean of its trees")
        terms = " + ".join(f"{answer:.2f}" for answer in answers)
        panels[1].annotate(f"$f(x)$ = ({terms}) / {NUM_TREES} = {parts['forest_label_1'].iloc[0]:.2f}", (0.5, -0.02),
                           xycoords="axes fraction", ha="center", fontsize=13)
    return figure


def read(parts):
    answers = tree_answers(parts)
    return (f"For this person of Adult the trees say {', '.join(f'{answer:.2f}' for answer in answers)} for an income "
            f"above 50K, the forest {parts['forest_label_1'].iloc[0]:.2f}; their mean is {answers.mean():.2f}.")


class Schematic(Figure):
    """Has no experiments: one model is enough."""

    def make(self, options):
        name = self.name + options.scale.name
        parts = example(options.scale.most_rows)
        csv = options.results / f"{name}.csv"
        with whole_file(csv, "w") as file:
            parts.to_csv(file, index=False, float_format="%.6g")
        parts = pd.read_csv(csv)
        pictures, reading = plots.save(draw(parts), options.results, name), read(parts)
        if options.scale is FULL:
            note_sums(options.results, [name])
            write_reading(options.results, name, self.title, reading)
        print(f"\n{self.title}\n\n{reading}\n")
        for path in (csv, *pictures):
            print(f"→ {path}")


FIGURE = Schematic("figure1", __doc__, lambda scale: [], draw, read)

if __name__ == "__main__":
    FIGURE.main()
