"""A Grove of forests by the engine: members are the single models, to the bit."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.grove.engine_walk import EngineWalk
from aranyani_tf.grove.grid_walk import GridWalk
from engine_rows import learned, rows, same

FOREST = {"num_trees": 2, "height": 3}
WEIGHTS, SEEDS = [0.0, 3.0], [0, 5]
KINDS = {
    "node": ({}, {}), "leaf": ({"constraint": "leaf", "penalty": ar.L2()}, {"missing": 0.2}),
    "output": ({"constraint": "output", "num_labels": 3, "num_groups": 3, "chance": 1.0},
               {"num_labels": 3, "num_groups": 3}),
    "steps": ({"samples_per_step": 7, "wait_for_all_groups": True, "record_gradients": True}, {"missing": 0.1}),
    "regression": ({"num_labels": 1}, {"num_labels": 1, "missing": 0.1})}


def single(stream, weight, seed, **settings):
    model = ar.Aranyani(**FOREST | settings, fairness_weight=weight, seed=seed)
    model.fit(stream, verbose=0)
    assert model.engine == "numba"
    return model


@pytest.mark.parametrize(("kind", "shuffle"), [("node", True), ("leaf", False), ("output", False), ("steps", False),
                                               ("steps", True), ("regression", False), ("regression", True)])
def test_a_member_is_the_single_model_to_the_bit(kind, shuffle):
    settings, options = KINDS[kind]
    stream = ar.Stream(*rows(400, **options))
    stream, aside = stream[:350], stream[350:]
    grove = ar.Grove(FOREST | settings, fairness_weights=WEIGHTS, seeds=SEEDS)
    records = grove.fit(stream, shuffle=shuffle, held_out=aside, checkpoints=[91, 201], chunk_size=70, verbose=0)
    assert isinstance(grove.loop, EngineWalk)
    for weight in WEIGHTS:
        for seed in SEEDS:
            expected = single(stream.shuffled(seed) if shuffle else stream, weight, seed, **settings)
            member = grove.model(weight, seed)
            assert same(learned(member), learned(expected)), (weight, seed)
            last = records.query("fairness_weight == @weight and seed == @seed").iloc[-1]
            score = "mean_squared_error" if "num_labels" in settings and settings["num_labels"] == 1 else "accuracy"
            assert last[score] == pytest.approx(expected.so_far()[score], rel=1e-5)
            if score == "accuracy":
                said = expected.predict(aside.features).argmax(axis=1)
                known = aside.labels >= 0
                assert last["held_out_accuracy"] == pytest.approx((said == aside.labels)[known].mean())
            if "record_gradients" in settings:
                norms = grove.gradient_norms.query("fairness_weight == @weight and seed == @seed")
                np.testing.assert_array_equal(norms.drop(columns=["fairness_weight", "seed"]), expected.gradient_norms)


def test_members_go_on_to_the_bit_where_the_grove_left_them():
    stream = ar.Stream(*rows(300))
    grove = ar.Grove(FOREST, fairness_weights=[3.0], seeds=[1])
    grove.fit(stream[:200], verbose=0)
    member = grove.model(3.0, 1)
    member.fit(stream[200:], verbose=0)
    assert same(learned(member), learned(single(stream, 3.0, 1)))


def test_neither_chunks_nor_other_members_nor_looking_makes_a_difference():
    stream = ar.Stream(*rows(300, missing=0.1))
    found = []
    for weights, seeds, options in (([3.0], [1], {}), ([0.0, 3.0, 9.0], [0, 1], {"chunk_size": 37}),
                                    ([3.0], [1], {"held_out": stream[:20], "checkpoints": [50, 60, 299]})):
        grove = ar.Grove(FOREST, fairness_weights=weights, seeds=seeds)
        grove.fit(stream, verbose=0, **options)
        found.append(learned(grove.model(3.0, 1)))
    assert same(found[0], found[1]) and same(found[0], found[2])


def test_a_grove_of_predictors_goes_by_tensorflow_s_step():
    def perceptron(seed):
        keras.utils.set_random_seed(seed)
        return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(2, "softmax")])

    stream = ar.Stream(*rows(200))
    grove = ar.Grove({"predictor": perceptron}, fairness_weights=[0.3], seeds=[0, 1])
    records = grove.fit(stream, verbose=0)
    assert isinstance(grove.loop, GridWalk)
    for seed in (0, 1):
        model = ar.Aranyani(predictor=perceptron(seed), fairness_weight=0.3, seed=seed)
        model.fit(stream, verbose=0)
        for ours, theirs in zip(grove.model(0.3, seed).get_weights(), model.get_weights(), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-4)
        last = records.query("seed == @seed").iloc[-1]
        assert last["accuracy"] == pytest.approx(model.so_far()["accuracy"], abs=0.006)


def test_a_member_that_diverges_takes_nobody_along():
    stream = ar.Stream(*rows(200))
    settings = FOREST | {"penalty": ar.Huber(linear_slope=1.0)}
    grove = ar.Grove(settings, fairness_weights=[3.0, 1e30], seeds=[1])
    with pytest.warns(UserWarning, match="1 of 2 members have diverged"):
        records = grove.fit(stream, verbose=0)
    assert same(learned(grove.model(3.0, 1)), learned(single(stream, 3.0, 1, penalty=ar.Huber(linear_slope=1.0))))
    with pytest.raises(ar.errors.DivergedError):
        grove.model(1e30, 1)
    assert records.query("fairness_weight == 3.0").iloc[-1].notna().all()
