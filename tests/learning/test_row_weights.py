"""What a row's weight does to a step: beside the float64 NumPy reference, and beside copies of the row."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from engine_rows import SMALL, learned, rows, same
from reference import Reference
from rewind import Rewindable

LEVELS = ["node", "leaf", "output"]


def weights_of(num_rows, seed=0):
    """Some rows weigh nothing, some much, most something between."""
    random = np.random.default_rng(seed)
    return np.where(random.random(num_rows) < 0.15, 0.0, random.choice([0.05, 0.5, 1.0, 3.0, 7.25], num_rows))


def compiled(engine, optimizer=None, **settings):
    model = ar.Aranyani(**(SMALL | settings))
    model.compile(optimizer, engine=engine)
    assert model.engine == engine
    return model


CASES = [
    {"constraint": "node"}, {"constraint": "leaf"}, {"constraint": "output"},
    {"constraint": "node", "decay": 0.05, "chance": 1.0, "num_groups": 3},
    {"constraint": "leaf", "decay": 0.05, "samples_per_step": 10, "notion": "equalized_odds"},
    {"constraint": "output", "decay": 0.05, "forget": "time", "samples_per_step": 10, "num_labels": 3},
    {"constraint": "output", "notion": "representation_parity", "num_labels": 1},
    {"constraint": "node", "online": False, "samples_per_step": 10, "update_when": "predicted_positive"},
    {"constraint": "node", "wait_for_all_groups": True, "num_groups": 4},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_step_agrees_with_the_reference(case):
    """In float64 to the last digits, by both engines."""
    case = {"fairness_weight": 1.0, "penalty": ar.Huber(linear_slope=1.0)} | case
    stream = rows(100, num_labels=case.get("num_labels", 2), num_groups=case.get("num_groups", 2), missing=0.1)
    weights, expected = weights_of(100), None
    for engine in ("numba", "xla"):
        model = compiled(engine, dtype="float64", scale_target=False, **(case | {"num_trees": 2, "height": 2}))
        model.build((None, 4))
        if expected is None:
            known = {name: value for name, value in case.items() if name not in ("penalty", "num_labels")}
            reference = Reference(*model.forest.get_weights(), linear_slope=1.0, **known)
            expected = reference.run(*stream, weights)
        said = model.predict_then_learn(*stream, weights)
        np.testing.assert_allclose(said, expected, rtol=1e-9, atol=1e-9, err_msg=engine)
        for weight, wanted in zip(model.forest.get_weights(), reference.weights, strict=True):
            np.testing.assert_allclose(weight, wanted, rtol=1e-9, atol=1e-9, err_msg=engine)


@pytest.mark.parametrize(("constraint", "engine"), [
    *((level, "numba") for level in LEVELS), pytest.param("node", "xla", marks=pytest.mark.xla)])
def test_weight_1_is_no_weight_to_the_last_bit(constraint, engine):
    stream = rows(120, missing=0.1)
    plain, weighted = (compiled(engine, constraint=constraint, decay=0.01, samples_per_step=3) for _ in range(2))
    said = plain.predict_then_learn(*stream)
    assert np.array_equal(weighted.predict_then_learn(*stream, np.ones(120)), said)
    assert same(learned(weighted), learned(plain)) and weighted.so_far() == plain.so_far()


@pytest.mark.parametrize(("constraint", "engine"), [*((level, "numba") for level in LEVELS), ("node", "xla")])
def test_a_row_counts_for_the_means_as_its_copies_in_one_step_do(constraint, engine):
    x, y, a = rows(12)
    copies = np.random.default_rng(1).integers(1, 5, 12)
    heavy, many = (compiled(engine, constraint=constraint, samples_per_step=size, dtype="float64", chance=1.0)
                   for size in (12, int(copies.sum())))
    heavy.predict_then_learn(x, y, a, copies)
    many.predict_then_learn(*(np.repeat(array, copies, axis=0) for array in (x, y, a)))
    for ours, theirs in zip(heavy.statistics.weights, many.statistics.weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert np.array_equal(heavy.statistics.cell_count, [copies[a == group].sum() for group in (0, 1)])


@pytest.mark.parametrize(("part", "engine"), [
    (None, "numba"), (None, "xla"), ("encoder", "xla"), ("predictor", "xla")])
def test_the_task_pulls_as_much_as_the_row_weighs(part, engine):
    """One row, plain gradient descent, λ = 0: the weights go 2.5 times as far."""
    moved = []
    for weights in (None, [2.5]):
        dense = keras.Sequential([keras.Input((4,), dtype="float64"), keras.layers.Dense(
            2, "softmax", kernel_initializer=keras.initializers.GlorotUniform(1), dtype="float64")])
        model = ar.Aranyani(fairness_weight=0.0, dtype="float64", seed=0, **({} if part is None else {part: dense}))
        model.compile(keras.optimizers.SGD(0.01), engine=engine)
        model.build_for(4)
        before = [weight.numpy() for weight in model.trainable_weights]
        model.predict_then_learn(*rows(1), weights)
        moved.append([after.numpy() - old for old, after in zip(before, model.trainable_weights, strict=True)])
    assert model.engine == engine
    for once, often in zip(*moved, strict=True):
        assert np.abs(once).max() > 0
        np.testing.assert_allclose(often, 2.5 * once, rtol=1e-9, atol=1e-15)


def test_light_rows_have_the_same_means_as_heavy_ones():
    """A count below 1 is a count: the first row of weight 0.01 is its cell's mean."""
    stream = rows(50)
    heavy, light = (compiled("numba", keras.optimizers.SGD(0.0), constraint="output", dtype="float64")
                    for _ in range(2))
    heavy.predict_then_learn(*stream)
    light.predict_then_learn(*stream, np.full(50, 0.01))
    np.testing.assert_allclose(light.statistics.cell_count, 0.01 * heavy.statistics.cell_count.numpy(), rtol=1e-12)
    for ours, theirs in zip(light.statistics.means, heavy.statistics.means, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_a_heavy_row_makes_a_cell_forget_once():
    model = compiled("numba", decay=0.1)
    x, y, _ = rows(3)
    model.predict_then_learn(x, y, [0, 0, 0], [1.0, 4.0, 0.5])
    assert model.statistics.cell_count.numpy()[0] == pytest.approx((1.0 * 0.9 + 4.0) * 0.9 + 0.5, rel=1e-12)


@pytest.mark.parametrize("engine", ["numba", "xla"])
@pytest.mark.parametrize("num_labels", [2, 1], ids=["classes", "regression"])
def test_a_row_of_weight_0_is_a_row_without_label_and_group(num_labels, engine):
    x, y, a = rows(80, num_labels=num_labels)
    weights = weights_of(80)
    nothing = weights == 0
    model = compiled(engine, num_labels=num_labels, decay=0.01, forget="time", samples_per_step=2,
                     wait_for_all_groups=True)
    rewindable = Rewindable(model, num_features=4)
    found = []
    for stream in ((x, y, a, weights),
                   (x, np.where(nothing, y.dtype.type(np.nan if num_labels == 1 else -1), y),
                    np.where(nothing, -1, a), np.where(nothing, 1.0, weights))):
        rewindable.rewind()
        before = learned(model)
        found.append((model.predict_then_learn(*stream), learned(model), model.so_far()))
        assert not same(learned(model), before)
    (said, weightless, metrics), (expected, missing, expected_metrics) = found
    assert np.array_equal(said, expected) and np.isfinite(said).all()
    assert same(weightless, missing) and metrics == expected_metrics
