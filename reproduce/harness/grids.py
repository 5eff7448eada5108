"""Every grid of the figures: which datasets, methods, settings and seeds; the λ are in `weights` and with the methods.

A function here is a figure; it takes a `Scale` and gives the figure's experiments. Experiments that two
figures have in common are run once.
"""

import os

from harness.experiment_streams import load
from harness.experiments import Experiment
from harness.registry import Method, method, methods
from harness.scales import FIVE, FULL, QUICK, SEEDS, Scale
from harness.weights import (
    DRIFT_WEIGHTS,
    EMBEDDED_WEIGHTS,
    L2_WEIGHTS,
    RELEASED_WEIGHTS,
    STAND_IN_WEIGHTS,
    rule_weights,
)

TABULAR = ("adult", "census", "compas")
COMPAS_WAYS = ("released", "standardized")


def with_own_weights(scale: Scale, dataset: str, name: str, **settings) -> Experiment:
    """A method with the λ that it is registered with."""
    how = method(name)
    return scale.experiment(dataset, how.fairness_weights, method=name, rule=how.rule, **settings)


def aranyani(scale: Scale, dataset: str, **settings) -> Experiment:
    """Aranyani with the released rule and the λ of the released sweeps."""
    return scale.experiment(dataset, rule_weights(dataset, "released"), **settings)


def figure2(scale: Scale = FULL) -> list[Experiment]:
    """Adult, Census, COMPAS: all methods of the paper, 3 trees of height 4, data as the released code prepares it.

    Aranyani with both rules, Leaf and MLP with the right gradient and as released; and whatever was added in
    `extensions/`. Seeds vary the weights at the start, and in shuffled streams the order as well.
    """
    experiments = []
    for dataset in TABULAR:
        experiments.append(aranyani(scale, dataset))
        if scale is not QUICK:
            experiments.append(aranyani(scale, dataset, order="shuffled"))
            experiments.append(scale.experiment(dataset, rule_weights(dataset, "paper"), rule="paper"))
            experiments += [with_own_weights(scale, dataset, name, order=order)
                            for name in ("leaf", "mlp") for order in ("file", "shuffled")[: 1 + scale.both_orders]]
            experiments += [with_own_weights(scale, dataset, name, seeds=FIVE)
                            for name in ("leaf_released", "mlp_released")]
            experiments += hoeffding_trees(scale, dataset, orders=SEEDS[:3] if dataset == "census" else FIVE)
        for each in added_methods():  # a learner seed by seed, so that they spread over the cores
            seeds = [(seed,) for seed in scale.seeds] if each.learner else [scale.seeds]
            experiments += [with_own_weights(scale, dataset, each.name, seeds=own) for own in seeds]
    return experiments


def added_methods() -> list[Method]:
    """Those that are not of this repository."""
    return [each for each in methods().values() if each.is_added]


def hoeffding_trees(scale: Scale, dataset: str, orders: tuple[int, ...]) -> list[Experiment]:
    """HT and FAHT draw nothing at random: what varies is the order of the rows, for AHT too. The file's own once."""
    return [with_own_weights(scale, dataset, name, seeds=(seed,), order=order)  # one by one: they spread over the cores
            for name in ("ht", "faht", "aht")
            for order, seeds in (("file", SEEDS[:1]), ("shuffled", orders))[0 if scale.both_orders else 1 :]
            for seed in seeds[: len(scale.seeds)]]


def figure2_beyond(scale: Scale = FULL) -> list[Experiment]:
    """The output level, forgetting at every level, FERMI on the same forest, no group among the features, and what the
    README recommends: means that forget in time, and gaps that may be chance left alone."""
    experiments = []
    for dataset in TABULAR:
        experiments.append(aranyani(scale, dataset))
        for name in ("leaf", "mlp", "output"):  # the first two are those of figure 2
            experiments.append(with_own_weights(scale, dataset, name))
        for decay in (0.01,) if scale is QUICK else (0.01, 0.001):
            for name in ("aranyani", "leaf", "output", "mlp"):
                experiments.append(with_own_weights(scale, dataset, name, decay=decay))
        for name in ("output", "mlp"):
            experiments.append(with_own_weights(scale, dataset, name, decay=0.001, forget="time", chance=2.0))
        for name in ("aranyani", "leaf", "output", "mlp"):
            experiments.append(with_own_weights(scale, dataset, name, drop_group=True))
        if scale is not QUICK:
            experiments += [with_own_weights(scale, dataset, name, order="shuffled")
                            for name in ("output", "fermi_forest")]
        experiments += fermi(scale, dataset)
    return experiments


def fermi(scale: Scale, dataset: str) -> list[Experiment]:
    return [with_own_weights(scale, dataset, name) for name in ("fermi_forest", "fermi_linear")]


def available(dataset: str) -> bool:
    """Whether the data is here; CelebA and CivilComments have to be made or given."""
    try:
        load(dataset)
    except FileNotFoundError:
        if os.environ.get(dataset.upper()):  # a file was named, and is not there
            raise
        return False
    return True


def text() -> str:
    """CivilComments, or what stands in for it."""
    return "civil_comments" if available("civil_comments") else "wiki_toxicity"


def figure3(scale: Scale = FULL) -> list[Experiment]:
    """CivilComments and CelebA, or what stands in for them."""
    experiments = []
    for dataset in (text(), *(["celeba"] if available("celeba") else [])):
        weights = STAND_IN_WEIGHTS.get(dataset) or RELEASED_WEIGHTS[dataset]
        experiments.append(scale.experiment(dataset, weights))
        for name, seeds in (("mlp", SEEDS), ("leaf", FIVE)):  # Leaf is slow here
            experiments.append(scale.experiment(dataset, EMBEDDED_WEIGHTS[name], method=name, seeds=seeds))
        if scale is not QUICK:
            experiments += [scale.experiment(dataset, EMBEDDED_WEIGHTS[name], method=f"{name}_released", seeds=FIVE)
                            for name in ("mlp", "leaf")]
            experiments += hoeffding_trees(scale, dataset, orders=SEEDS[:2])
    return experiments


def gradients(scale: Scale, height: int = 4) -> Experiment:
    """One tree on text with λ = 0.1, norms of its gradients along the stream."""
    return scale.experiment(text(), (0.1,), seeds=FIVE, num_trees=1, height=height, record_gradients=True,
                            even_checkpoints=50)


def figure4(scale: Scale = FULL) -> list[Experiment]:
    """Aranyani against Reservoir; gradients along the stream; height. Storing all has few λ and one seed."""
    return [aranyani(scale, "adult"),
            with_own_weights(scale, "adult", "reservoir_500", seeds=FIVE),
            *(scale.experiment("adult", (weight,), method="reservoir", seeds=(seed,))
              for weight in scale.some(method("reservoir").fairness_weights) for seed in scale.some(SEEDS[:3])),
            gradients(scale),
            *(scale.experiment("adult", (0.1,), height=height) for height in scale.some(range(2, 9))
              if height != 4 or scale is not FULL)]  # the first experiment has λ = 0.1 at height 4


def figure5(scale: Scale = FULL) -> list[Experiment]:
    """Several λ along the stream of Adult; Figure 8 has the spread over their seeds."""
    return [aranyani(scale, "adult")]


def figure6(scale: Scale = FULL) -> list[Experiment]:
    """1 to 10 trees, λ = 0.1."""
    return [scale.experiment("adult", (0.1,), num_trees=trees) for trees in scale.some(range(1, 11))]


def figure7(scale: Scale = FULL) -> list[Experiment]:
    """Gradients along the stream, for heights up to 10."""
    return [gradients(scale, height) for height in (range(2, 11) if scale is FULL else (2, 4, 6))]


figure8 = figure5


def figure9(scale: Scale = FULL) -> list[Experiment]:
    """Two adversarial streams."""
    return [aranyani(scale, "adult", order=order, even_checkpoints=50)
            for order in ("majority_first", "minority_first")]


def figure10(scale: Scale = FULL) -> list[Experiment]:
    """Limited feedback, equal opportunity, ten samples a step; and the plain setting beside each.

    COMPAS as the released code has it, unscaled, and standardized. Other methods at ten samples a step, too.
    """
    return [*(aranyani(scale, "compas", preprocessing=way, update_when=when) for way in COMPAS_WAYS
              for when in ("always", "predicted_positive")),
            aranyani(scale, "adult", notion="equal_opportunity"), aranyani(scale, "adult"),
            aranyani(scale, "adult", samples_per_step=10),
            *(with_own_weights(scale, "adult", name, samples_per_step=10) for name in ("leaf", "mlp"))]


def figure11(scale: Scale = FULL) -> list[Experiment]:
    """L2 in Huber's place, fractions of the data (COMPAS as released, and standardized), FERMI."""
    return [aranyani(scale, "adult"), scale.experiment("adult", L2_WEIGHTS, rule="l2"),
            *(aranyani(scale, "compas", preprocessing=way, fraction=fraction) for way in COMPAS_WAYS
              for fraction in scale.some((0.1, 0.25, 0.5, 0.75, 1.0))),
            *fermi(scale, "adult")]


def figure12(scale: Scale = FULL) -> list[Experiment]:
    """A tenth held out; the trade-off as it converges."""
    return [scale.experiment("adult", (0.0, 0.1, 1.0, 10.0), held_out=0.1, even_checkpoints=20),
            aranyani(scale, "adult")]


def preprocessing(scale: Scale = FULL) -> list[Experiment]:
    """The four ways to prepare a table."""
    return [aranyani(scale, dataset, preprocessing=way) for dataset in ("adult", "compas")
            for way in ("released", "standardized", "one_hot", "online")]


def rules(scale: Scale = FULL) -> list[Experiment]:
    """Both slopes of the Huber penalty."""
    return [scale.experiment(dataset, rule_weights(dataset, rule), rule=rule)
            for dataset in TABULAR for rule in ("released", "paper")]


def drift(scale: Scale = FULL) -> list[Experiment]:
    """A stream whose groups change places half-way, with and without forgetting."""
    return [scale.experiment("synthetic", DRIFT_WEIGHTS, order="drift", decay=decay, even_checkpoints=20)
            for decay in (None, 0.001, 0.01)]


def grid_search(scale: Scale = FULL) -> list[Experiment]:
    """Trees × height on Adult and standardized COMPAS, with and without fairness: is 3 × 4 the best?"""
    return [scale.experiment(dataset, (0.0, 0.1), preprocessing=way, **(
                {"num_trees": trees, "height": height} | dict(scale.forest)))
            for dataset, way in (("adult", "released"), ("compas", "standardized"))
            for trees in scale.some((1, 2, 3, 5, 8)) for height in scale.some((2, 3, 4, 5, 6))]
