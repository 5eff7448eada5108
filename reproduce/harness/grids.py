"""Every grid of the figures: which λ, seeds and settings, and where they come from.

A function here is a figure; it takes a `Scale` and gives the figure's experiments. Experiments that two
figures have in common are run once.
"""

import os

from harness.experiments import load
from harness.scales import FULL, QUICK, SEEDS

# λ of the sweeps in the authors' released code, which its penalty (slope 1) belongs to.
RELEASED_WEIGHTS = {
    "adult": (0.0, 0.1, 0.3, 0.5, 1.0, 5.0, 10.0, 100.0),
    "census": (0.0, 0.05, 0.08, 0.1, 5.0, 10.0),
    "compas": (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.08, 0.09, 0.1, 0.3, 0.5, 1.0, 5.0, 10.0, 100.0),
    "celeba": (0.0, 0.01, 0.03, 0.05, 0.08, 0.1, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 5.0, 10.0),
    "civil_comments": (0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 100.0, 500.0, 1e3, 3e3, 5e3, 8e3, 1e4, 5e4,
                       1e5, 1e6),
}
# The paper's penalty has slope δ = 0.01 where the released one has 1, so its λ are 100 times as large.
SLOPE_RATIO = 100


def rule_weights(dataset, rule):
    """The λ of a dataset for either rule."""
    weights = RELEASED_WEIGHTS[dataset]
    return weights if rule == "released" else tuple(round(SLOPE_RATIO * weight, 6) for weight in weights)


# Ranges found by a pilot on Adult with two seeds: from no effect to the majority label or beyond.
WEIGHTS = {
    "leaf": (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0),
    "output": (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0),
    "mlp": (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0),
    "fermi_forest": (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0),  # at 100 it becomes unfair again
    "fermi_linear": (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
}
L2_WEIGHTS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)  # F is about 0.1 where the released slope is 1
RESERVOIR_WEIGHTS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # exact gaps are soon within δ, where the penalty is weak
DRIFT_WEIGHTS = (0.0, 0.03, 0.1, 0.3, 1.0)
TABULAR = ("adult", "census", "compas")


def aranyani(scale, dataset, **settings):
    """Aranyani with the released rule and the λ of the released sweeps."""
    return scale.experiment(dataset, rule_weights(dataset, "released"), **settings)


def figure2(scale=FULL):
    """Adult, Census, COMPAS: all methods of the paper, 3 trees of height 4, data as the released code prepares it.

    Aranyani with both rules, Leaf and MLP with the released one.
    """
    experiments = []
    for dataset in TABULAR:
        experiments.append(aranyani(scale, dataset))
        if scale is QUICK:  # Aranyani and Majority only
            continue
        experiments.append(scale.experiment(dataset, rule_weights(dataset, "paper"), rule="paper"))
        for method in ("leaf", "mlp"):
            experiments.append(scale.experiment(dataset, WEIGHTS[method], method=method))
        experiments += hoeffding_trees(scale, dataset, aht_seeds=SEEDS[:1] if dataset == "census" else SEEDS[:3])
    return experiments


def hoeffding_trees(scale, dataset, aht_seeds):
    """HT and FAHT draw nothing at random; AHT does, and takes minutes on long streams: it has fewer seeds."""
    seeds = {"ht": SEEDS[:1], "faht": SEEDS[:1], "aht": aht_seeds}
    return [scale.experiment(dataset, (0.0,), seeds=(seed,), method=method, rule="none")
            for method, own in seeds.items() for seed in own]  # one by one, so that they spread over the cores


def figure2_beyond(scale=FULL):
    """What the paper did not try: the output level, forgetting at every level, and FERMI on the same forest."""
    experiments = []
    for dataset in TABULAR:
        experiments.append(aranyani(scale, dataset))
        for method in ("leaf", "mlp", "output"):  # the first two are those of figure 2
            experiments.append(scale.experiment(dataset, WEIGHTS[method], method=method))
        for decay in (0.01,) if scale is QUICK else (0.01, 0.001):
            for method in ("aranyani", "leaf", "output", "mlp"):
                weights = WEIGHTS.get(method, WEIGHTS["leaf"])
                experiments.append(scale.experiment(dataset, weights, method=method, decay=decay))
        experiments += fermi(scale, dataset)
    return experiments


def fermi(scale, dataset):
    return [scale.experiment(dataset, WEIGHTS[method], method=method, rule="none")
            for method in ("fermi_forest", "fermi_linear")]


def available(dataset):
    """Whether the data is here; CelebA and CivilComments have to be made or given."""
    try:
        load(dataset, "released")
    except FileNotFoundError:
        if os.environ.get(dataset.upper()):  # a file was named, and is not there
            raise
        return False
    return True


def text():
    """CivilComments, or what stands in for it."""
    return "civil_comments" if available("civil_comments") else "wiki_toxicity"


# Found by a pilot with one seed on the stand-ins: from no effect to the majority label.
STAND_IN_WEIGHTS = {"wiki_toxicity": (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)}
EMBEDDED_WEIGHTS = {
    "leaf": (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0),
    "mlp": (0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 10.0),
}


def figure3(scale=FULL):
    """CivilComments and CelebA, or what stands in for them."""
    experiments = []
    for dataset in (text(), *(["celeba"] if available("celeba") else [])):
        weights = STAND_IN_WEIGHTS.get(dataset) or RELEASED_WEIGHTS[dataset]
        experiments.append(scale.experiment(dataset, weights))
        for method, seeds in (("mlp", SEEDS), ("leaf", SEEDS[:3])):  # Leaf is slow here
            experiments.append(scale.experiment(dataset, EMBEDDED_WEIGHTS[method], method=method, seeds=seeds))
        if scale is not QUICK:
            experiments += hoeffding_trees(scale, dataset, aht_seeds=SEEDS[:1])
    return experiments


def gradients(scale, height=4, seeds=SEEDS):
    """One tree on text with λ = 0.1, norms of its gradients along the stream."""
    return scale.experiment(text(), (0.1,), seeds=seeds, num_trees=1, height=height, record_gradients=True,
                            even_checkpoints=50)


def figure4(scale=FULL):
    """Aranyani against Reservoir; gradients along the stream; height. Storing all has few λ and one seed."""
    return [aranyani(scale, "adult"),
            scale.experiment("adult", RESERVOIR_WEIGHTS, method="reservoir_500", seeds=SEEDS[:2]),
            *(scale.experiment("adult", (weight,), method="reservoir", seeds=SEEDS[:1])
              for weight in scale.some(RESERVOIR_WEIGHTS[::2])),
            gradients(scale),
            *(scale.experiment("adult", (0.1,), height=height) for height in scale.some(range(2, 9))
              if height != 4 or scale is not FULL)]  # the first experiment has λ = 0.1 at height 4


def figure5(scale=FULL):
    """Several λ along the stream of Adult."""
    return [aranyani(scale, "adult")]


def figure6(scale=FULL):
    """1 to 10 trees, λ = 0.1."""
    return [scale.experiment("adult", (0.1,), num_trees=trees) for trees in scale.some(range(1, 11))]


def figure7(scale=FULL):
    """Gradients along the stream, for heights up to 10; the highest takes 6 ms a sample and has two seeds."""
    heights = range(2, 11) if scale is FULL else (2, 4, 6)
    return [gradients(scale, height, SEEDS[:2] if height == 10 else SEEDS) for height in heights]


def figure8(scale=FULL):
    """The spread over five seeds."""
    return [aranyani(scale, "adult")]


def figure9(scale=FULL):
    """Two adversarial streams."""
    return [aranyani(scale, "adult", order=order, even_checkpoints=50)
            for order in ("majority_first", "minority_first")]


def figure10(scale=FULL):
    """Limited feedback, equal opportunity, ten samples a step; and the plain setting beside each."""
    return [aranyani(scale, "compas"), aranyani(scale, "compas", update_when="predicted_positive"),
            aranyani(scale, "adult", notion="equal_opportunity"), aranyani(scale, "adult"),
            aranyani(scale, "adult", samples_per_step=10)]


def figure11(scale=FULL):
    """L2 in Huber's place, fractions of the data, FERMI."""
    return [aranyani(scale, "adult"), scale.experiment("adult", L2_WEIGHTS, rule="l2"), aranyani(scale, "compas"),
            *(aranyani(scale, "compas", fraction=fraction) for fraction in scale.some((0.1, 0.25, 0.5, 0.75))),
            *fermi(scale, "adult")]


def figure12(scale=FULL):
    """A tenth held out; the trade-off as it converges."""
    return [scale.experiment("adult", (0.0, 0.1, 1.0, 10.0), held_out=0.1, even_checkpoints=20),
            aranyani(scale, "adult")]


def preprocessing(scale=FULL):
    """The four ways to prepare a table."""
    return [aranyani(scale, dataset, preprocessing=way) for dataset in ("adult", "compas")
            for way in ("released", "standardized", "one_hot", "online")]


def rules(scale=FULL):
    """Both slopes of the Huber penalty."""
    return [scale.experiment(dataset, rule_weights(dataset, rule), rule=rule)
            for dataset in TABULAR for rule in ("released", "paper")]


def drift(scale=FULL):
    """A stream whose groups change places half-way, with and without forgetting."""
    return [scale.experiment("synthetic", DRIFT_WEIGHTS, order="drift", decay=decay, even_checkpoints=20)
            for decay in (None, 0.001, 0.01)]
