"""Every grid of the figures: which λ, seeds and settings, and where they come from."""

from experiments import Experiment

SEEDS = (0, 1, 2, 3, 4)  # the paper: "5 different seeds" where it tells

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
TABULAR = ("adult", "census", "compas")
QUICK_ROWS = {"census": 20_000}


def figure2(quick=False):
    """Adult, Census, COMPAS: all methods of the paper, 3 trees of height 4, data as the released code prepares it.

    Aranyani with both rules, Leaf and MLP with the released one. HT and FAHT draw nothing at random; AHT does, and
    is slow, so it has three seeds.
    """
    seeds = SEEDS[:2] if quick else SEEDS
    tree_seeds = {"ht": SEEDS[:1], "faht": SEEDS[:1], "aht": SEEDS[:3]}
    experiments = []
    for dataset in TABULAR:
        rows = QUICK_ROWS.get(dataset) if quick else None
        for rule in ("released",) if quick else ("released", "paper"):
            experiments.append(Experiment(dataset, rule_weights(dataset, rule), seeds, rule=rule, rows=rows))
        if quick:  # Aranyani and Majority only
            continue
        for method in ("leaf", "mlp"):
            experiments.append(Experiment(dataset, WEIGHTS[method], seeds, method=method))
        for method, own_seeds in tree_seeds.items():
            for seed in own_seeds:  # one by one, since they are slow: they spread over the cores
                experiments.append(Experiment(dataset, (0.0,), (seed,), method=method, rule="none"))
    return experiments


def figure2_beyond(quick=False):
    """What the paper did not try: the output level, forgetting at every level, and FERMI on the same forest."""
    seeds = SEEDS[:1] if quick else SEEDS[:3]
    experiments = []
    for dataset in TABULAR:
        rows = QUICK_ROWS.get(dataset) if quick else None
        common = {"seeds": seeds, "rows": rows}
        # The first two are those of figure 2, which are there already if it was drawn.
        for method in ("aranyani", "leaf", "mlp"):
            weights = rule_weights(dataset, "released") if method == "aranyani" else WEIGHTS[method]
            experiments.append(Experiment(dataset, weights, SEEDS, method=method) if not quick else
                               Experiment(dataset, weights[::2], method=method, **common))
        experiments.append(Experiment(dataset, WEIGHTS["output"], method="output", **common))
        for decay in (0.01,) if quick else (0.01, 0.001):
            for method in ("aranyani", "leaf", "output", "mlp"):
                weights = WEIGHTS.get(method, WEIGHTS["leaf"])[:: 2 if quick else 1]
                experiments.append(Experiment(dataset, weights, method=method, decay=decay, **common))
        for method in ("fermi_forest", "fermi_linear"):
            experiments.append(Experiment(dataset, WEIGHTS[method], method=method, rule="none", **common))
    return experiments
