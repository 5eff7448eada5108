"""Keras's variables into the engine's layout, and back."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from engine_rows import learned, rows, same

SHAPES = {
    "one small tree": {"num_trees": 1, "height": 1}, "two high trees": {"num_trees": 2, "height": 5},
    "three labels": {"num_trees": 3, "height": 2, "num_labels": 3}, "three groups": {"num_groups": 3},
    "regression": {"num_trees": 2, "height": 3, "num_labels": 1}}
OPTIMIZERS = {"adam": lambda: keras.optimizers.Adam(1e-3), "sgd": lambda: keras.optimizers.SGD(0.1),
              "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9)}


def filled(settings, optimizer, dtype="float32"):
    """A model whose every number is another one, but for idle columns of the training loop's packing, which are 0."""
    model = ar.Aranyani(**settings, seed=0, dtype=dtype)
    model.compile(OPTIMIZERS[optimizer](), engine="numba")
    model.build_for(4)
    random, used, slots = np.random.default_rng(0), model.forest.num_trees * model.forest.num_nodes, packed_width(model)
    for variable in (*model.weights, *model.optimizer.variables):
        if variable is model.optimizer.iterations:
            variable.assign(17)
        elif variable is not model.optimizer.learning_rate:
            numbers = random.normal(size=variable.shape)
            if variable.shape[-1] == slots:
                numbers[..., used:] = 0
            variable.assign(numbers)
    return model


def packed_width(model):
    return model.learner.packed[0].shape[1]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("chance", [0.0, 2.0])
@pytest.mark.parametrize("constraint", ["node", "leaf", "output"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_what_is_read_and_written_is_the_same_to_the_bit(shape, constraint, chance, optimizer):
    model = filled(shape | {"constraint": constraint, "chance": chance}, optimizer)
    before, exchange = learned(model), model.by_engine
    state = exchange.read(model.statistics, model.optimizer)
    for variable in (*model.weights, *model.optimizer.variables):
        if variable is not model.optimizer.learning_rate:
            variable.assign(np.zeros(variable.shape))
    assert not same(before, learned(model))
    exchange.write(state, model.statistics, model.optimizer)
    if model.target_scale is not None:  # which is not the exchange's affair
        model.target_scale.moments.assign(before[[w is model.target_scale.moments for w in model.weights].index(True)])
    assert same(before, learned(model))


@pytest.mark.parametrize("constraint", ["node", "leaf", "output"])
def test_a_second_reading_gives_the_same_state(constraint):
    model = filled({"constraint": constraint, "chance": 1.0, "num_groups": 3, "num_labels": 3}, "adam")
    exchange = model.by_engine
    first = exchange.read(model.statistics, model.optimizer)
    exchange.write(first, model.statistics, model.optimizer)
    second = exchange.read(model.statistics, model.optimizer)
    for name in ("numbers", "counts", "iterations"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.iterations[0] == 17


def test_a_state_is_no_view_of_the_variables():
    model = filled({}, "adam")
    before, state = learned(model), model.by_engine.read(model.statistics, model.optimizer)
    state.numbers[:] = 0
    assert same(before, learned(model))


@pytest.mark.parametrize(("constraint", "optimizer"), [("node", "adam"), ("leaf", "momentum"), ("output", "adam"),
                                                       ("output", "sgd")])
def test_a_stream_may_go_from_one_engine_to_the_other_and_back(constraint, optimizer):
    """Every number has to be in its place for that; chance, missing values and three groups are there too."""
    settings = {"num_trees": 2, "height": 3, "num_groups": 3, "constraint": constraint, "chance": 0.5, "decay": 0.02,
                "seed": 0, "dtype": "float64", "fairness_weight": 1.0}
    stream = rows(90, num_groups=3, missing=0.1)
    changing, staying = ar.Aranyani(**settings), ar.Aranyani(**settings)
    changing.compile(OPTIMIZERS[optimizer](), engine="numba")
    staying.compile(OPTIMIZERS[optimizer](), engine="xla")
    said = staying.predict_then_learn(*stream)
    for start, engine in ((0, "numba"), (30, "xla"), (60, "numba")):
        changing.choose_engine(engine, changing.optimizer, run_eagerly=False)
        assert changing.engine == engine
        found = changing.predict_then_learn(*(array[start : start + 30] for array in stream))
        np.testing.assert_allclose(found, said[start : start + 30], rtol=0, atol=1e-9)
    for ours, theirs in zip(learned(changing), learned(staying), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
