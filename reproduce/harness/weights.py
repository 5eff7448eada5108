"""The λ that belong to a dataset, a rule or a figure, and where they come from; a method's own are with the method."""

from harness.registry import method

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
L2_WEIGHTS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)  # F is about 0.1 where the released slope is 1
DRIFT_WEIGHTS = (0.0, 0.03, 0.1, 0.3, 1.0)
# Found by a pilot with one seed on the stand-ins: from no effect to the majority label.
STAND_IN_WEIGHTS = {"wiki_toxicity": (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)}
EMBEDDED_WEIGHTS = {
    "leaf": (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0),
    "mlp": (0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 10.0),
}


def rule_weights(dataset: str, rule: str) -> tuple[float, ...]:
    """Aranyani's λ for either rule: those of the released sweeps, or its own on a dataset that they do not have."""
    weights = RELEASED_WEIGHTS.get(dataset) or method("aranyani").fairness_weights
    return weights if rule == "released" else tuple(round(SLOPE_RATIO * weight, 6) for weight in weights)
