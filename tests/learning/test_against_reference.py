"""The step of each engine against the float64 NumPy reference, over 120 steps (or 30 of ten samples).

Those are enough for every branch: gaps on both sides of the penalty's δ, groups that come late, cells that forget.
In float32, where it is the rounding that adds up, over 300.
"""

import numpy as np
import pytest

import aranyani_tf as ar
from reference import Reference
from rewind import Rewindable

STEPS, STEPS_OF_TEN, STEPS_OF_FLOAT32 = 120, 30, 300


def stream_for(case, steps=STEPS, seed=0):
    """Random rows; about one label and one group in ten is missing where the case asks for it."""
    random = np.random.default_rng(seed)
    n = max(steps, STEPS_OF_TEN * case.get("samples_per_step", 1))
    num_labels, num_groups = case.get("num_labels", 2), case.get("num_groups", 2)
    groups = random.integers(0, num_groups, n)
    features = random.normal(size=(n, 5)).astype("float32") + 0.5 * groups[:, None].astype("float32")
    width = max(num_labels, 2)
    scores = features @ random.normal(size=(5, width)) + random.normal(size=(n, width))
    labels = scores[:, 0].astype("float32") if num_labels == 1 else scores.argmax(1)
    if case.get("missing"):
        labels = np.where(random.random(n) < 0.1, np.nan if num_labels == 1 else -1, labels)
        groups = np.where(random.random(n) < 0.1, -1, groups)
    return features, labels, groups


REFERENCES = {}  # what the reference said, and its weights: both engines are compared with one run of it


def reference_run(model, rows, **settings):
    """The reference from where the model begins."""
    shapes = [weight.shape for weight in model.forest.get_weights()]
    key = repr((settings, model.seed, shapes, model.compute_dtype))
    if key not in REFERENCES:
        known = {name: value for name, value in settings.items() if name != "missing"}
        reference = Reference(*model.forest.get_weights(), **known)
        REFERENCES[key] = reference.run(*rows), reference.weights
    return REFERENCES[key]


def run_both(case, fairness_weight, dtype, engine):
    """The probabilities of every step, and the final weights, from the model and the reference."""
    case = {"num_trees": 3, "height": 2} | case
    settings = {k: v for k, v in case.items() if k not in ("missing", "linear_slope", "l2")}
    penalty = ar.L2() if case.get("l2") else ar.Huber(linear_slope=case.get("linear_slope"))
    model = ar.Aranyani(**settings, fairness_weight=fairness_weight, penalty=penalty, seed=1, dtype=dtype,
                        scale_target=False)
    model.compile(engine=engine)
    assert model.engine == engine
    rows = stream_for(case)
    model.build((None, rows[0].shape[1]))
    shared = {k: v for k, v in case.items() if k not in ("num_trees", "height", "num_labels", "routing")}
    theirs = reference_run(model, rows, fairness_weight=fairness_weight, **shared)
    return (model.predict_then_learn(*rows), model.forest.get_weights()), theirs


# Each line turns some knobs away from the paper's setting; together they cover every knob, and
# the pairs of knobs that meet in one formula.
CASES = [
    {},
    {"linear_slope": 1.0},
    {"num_trees": 1, "height": 1},
    {"num_trees": 1, "height": 4, "linear_slope": 1.0},
    {"height": 4},
    {"height": 1, "num_groups": 4},
    {"num_groups": 4, "linear_slope": 1.0},
    {"decay": 0.05},
    {"decay": 0.05, "samples_per_step": 10, "linear_slope": 1.0},
    {"decay": 0.05, "num_groups": 4, "missing": True},
    {"samples_per_step": 10},
    {"samples_per_step": 10, "num_groups": 4, "missing": True},
    {"missing": True},
    {"missing": True, "linear_slope": 1.0, "num_trees": 1},
    {"l2": True},
    {"notion": "equal_opportunity", "linear_slope": 1.0},
    {"notion": "equal_opportunity", "num_groups": 4, "missing": True},
    {"notion": "equalized_odds"},
    {"notion": "equalized_odds", "num_groups": 4, "samples_per_step": 10, "decay": 0.05},
    {"notion": "equalized_odds", "num_labels": 3, "missing": True},
    {"notion": "representation_parity", "constraint": "output", "linear_slope": 1.0},
    {"notion": "representation_parity", "constraint": "output", "num_groups": 4, "missing": True},
    {"notion": "representation_parity", "constraint": "output", "samples_per_step": 10, "decay": 0.05},
    {"constraint": "leaf", "linear_slope": 1.0},
    {"constraint": "leaf", "height": 4, "num_trees": 1},
    {"constraint": "leaf", "height": 1, "num_groups": 4, "missing": True},
    {"constraint": "leaf", "samples_per_step": 10, "decay": 0.05},
    {"constraint": "leaf", "notion": "equalized_odds"},
    {"constraint": "output", "linear_slope": 1.0},
    {"constraint": "output", "height": 4, "num_trees": 1},
    {"constraint": "output", "num_labels": 3, "num_groups": 4, "missing": True},
    {"constraint": "output", "samples_per_step": 10, "decay": 0.05},
    {"constraint": "output", "notion": "equal_opportunity"},
    {"num_labels": 3},
    {"num_labels": 1},
    {"num_labels": 1, "constraint": "output", "missing": True},
    {"update_when": "predicted_positive"},
    {"update_when": "predicted_positive", "samples_per_step": 10, "missing": True},
    {"wait_for_all_groups": True, "num_groups": 4},
    {"online": False, "samples_per_step": 10, "linear_slope": 1.0},
    {"routing": "mask"},
    {"decay": 0.05, "forget": "time"},
    {"decay": 0.05, "forget": "time", "chance": 1.0, "num_groups": 4, "missing": True, "linear_slope": 1.0},
    {"decay": 0.02, "forget": "time", "samples_per_step": 10, "missing": True, "constraint": "output"},
    {"chance": 2.0, "linear_slope": 1.0},
    {"chance": 0.5, "constraint": "leaf", "notion": "equalized_odds"},
    {"chance": 1.0, "constraint": "output", "num_labels": 3, "num_groups": 4, "missing": True},
    {"chance": 1.0, "constraint": "output", "num_labels": 1, "linear_slope": 1.0},
    {"chance": 1.0, "samples_per_step": 10, "online": False, "linear_slope": 1.0},
]


# Compiled by XLA, as for users: one of each level, notion, kind of output and way to take rows.
BY_XLA = (
    {"height": 4},
    {"notion": "equalized_odds", "num_groups": 4, "samples_per_step": 10, "decay": 0.05},
    {"notion": "representation_parity", "constraint": "output", "linear_slope": 1.0},
    {"notion": "equal_opportunity", "linear_slope": 1.0}, {"constraint": "leaf", "linear_slope": 1.0},
    {"num_labels": 1, "constraint": "output", "missing": True}, {"update_when": "predicted_positive"},
    {"wait_for_all_groups": True, "num_groups": 4},
    {"online": False, "samples_per_step": 10, "linear_slope": 1.0},
    {"decay": 0.05, "forget": "time", "chance": 1.0, "num_groups": 4, "missing": True, "linear_slope": 1.0})
NOT_OF_THE_ENGINE = ({"routing": "mask"},)
MARKED = [pytest.param(case, id=",".join(f"{k}={v}" for k, v in case.items()) or "paper",
                       marks=pytest.mark.xla if case in BY_XLA else ()) for case in CASES]


@pytest.mark.parametrize("case", MARKED)
def test_every_step_of_both_engines_agrees_with_the_reference(case):
    """In float64 to the last digits, so that no rounding can hide a mistake; both beside one run of the reference."""
    for engine in ("xla",) if case in NOT_OF_THE_ENGINE else ("numba", "xla"):
        (said, weights), (expected_said, expected_weights) = run_both(case, 1.0, "float64", engine)
        np.testing.assert_allclose(said, expected_said, rtol=0, atol=1e-9, err_msg=engine)
        for weight, expected in zip(weights, expected_weights, strict=True):
            np.testing.assert_allclose(weight, expected, rtol=0, atol=1e-9, err_msg=engine)


@pytest.mark.parametrize("engine", ["numba", pytest.param("xla", marks=pytest.mark.xla)])
@pytest.mark.parametrize("linear_slope", [None, 1.0], ids=["paper", "released"])
def test_float32_stays_within_1e_4_of_the_reference(linear_slope, engine):
    """For every λ by one compiled model, which λ does not compile again."""
    model = ar.Aranyani(num_trees=3, height=4, seed=1, penalty=ar.Huber(linear_slope=linear_slope))
    model.compile(engine=engine)
    assert model.engine == engine
    rows, rewindable = stream_for({}, STEPS_OF_FLOAT32), Rewindable(model, num_features=5)
    for fairness_weight in (0.0, 0.1, 1.0, 10.0):
        rewindable.rewind().fairness_weight = fairness_weight
        expected, _ = reference_run(model, rows, fairness_weight=fairness_weight, linear_slope=linear_slope)
        np.testing.assert_allclose(model.predict_then_learn(*rows), expected, rtol=0, atol=1e-4)
