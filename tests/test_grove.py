"""The Grove: every member equals the single model with its settings; records equal other programs'."""

import keras
import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference

import aranyani_tf as ar
from aranyani_tf.evaluation.records import StreamRecord, log_spaced
from aranyani_tf.grove.grove import CACHE
from rewind import Rewindable

WEIGHTS, SEEDS = [0.0, 0.3], [0, 5]
RELEASED = {"penalty": ar.Huber(linear_slope=1.0), "num_trees": 2, "height": 3}


def perceptron(seed):
    keras.utils.set_random_seed(seed)
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(5, activation="relu"),
                             keras.layers.Dense(2, activation="softmax")])


def encoder(seed):
    keras.utils.set_random_seed(seed)
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(4), keras.layers.BatchNormalization()])


def small_stream(num_rows=300, missing=False, **options):
    stream = ar.datasets.load("synthetic", num_rows=num_rows, num_features=6, seed=2, **options)
    if missing:
        random = np.random.default_rng(0)
        stream.labels = np.where(random.random(num_rows) < 0.2, -1, stream.labels)
        stream.groups = np.where(random.random(num_rows) < 0.2, -1, stream.groups)
    # The second group comes late, so that waiting for it matters.
    order = np.argsort(stream.groups[:40], kind="stable")
    return stream[np.concatenate([order, np.arange(40, num_rows)])]


@pytest.mark.parametrize(("settings", "data"), [
    ({}, {}),
    ({"wait_for_all_groups": True}, {}),
    ({"constraint": "leaf", "penalty": ar.L2()}, {}),
    ({"constraint": "output", "notion": "equal_opportunity"}, {}),
    ({"notion": "equalized_odds", "decay": 0.02}, {"missing": True}),
    ({"num_labels": 3, "num_groups": 3, "activation": "smootherstep"}, {"num_labels": 3, "num_groups": 3}),
    ({"samples_per_step": 7, "wait_for_all_groups": True}, {"missing": True}),
    ({"samples_per_step": 7, "online": False}, {}),
    ({"update_when": "predicted_positive", "routing": "mask"}, {}),
    ({"notion": "representation_parity", "record_gradients": True}, {}),
    ({"predictor": perceptron}, {}),
    ({"encoder": encoder}, {"missing": True}),
], ids=lambda options: "-".join(options))
def test_a_member_equals_the_single_model(settings, data):
    check_members(settings, data, WEIGHTS, SEEDS)


@pytest.mark.parametrize(("settings", "data"), [
    ({"wait_for_all_groups": True, "record_gradients": True}, {"missing": True}),
    ({"samples_per_step": 7}, {"missing": True}),
    ({"constraint": "leaf"}, {}),
    ({"predictor": perceptron}, {}),
], ids=lambda options: "-".join(options))
def test_a_lone_member_equals_the_single_model(settings, data):
    """It is trained without the axis that several members have."""
    check_members(settings, data, [0.3], [1])


def check_members(settings, data, weights, seeds):
    stream, forest = small_stream(**data), {"num_trees": 3, "height": 4} if "predictor" in settings else {}
    settings = forest | settings
    grove = ar.Grove(RELEASED | settings, fairness_weights=weights, seeds=seeds)
    records = grove.fit(stream, chunk_size=128, verbose=0)
    for seed in seeds:
        made = {name: part(seed) for name, part in settings.items() if name in ("predictor", "encoder")}
        rewindable = Rewindable(ar.Aranyani(**(RELEASED | settings | made), seed=seed), stream.num_features)
        for weight in weights:
            single = rewindable.rewind()
            single.fairness_weight = weight
            history = single.fit(stream, verbose=0).history
            member = grove.model(weight, seed)
            for ours, theirs in zip(member.weights, single.weights, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=2e-4, err_msg=theirs.path)
            for ours, theirs in zip(member.optimizer.variables, single.optimizer.variables, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=2e-4, err_msg=theirs.path)
            last = records.query("fairness_weight == @weight and seed == @seed").iloc[-1]
            assert last["step"] == len(stream)
            for name in ("accuracy", "demographic_parity", "equal_opportunity", "equalized_odds",
                         "soft_demographic_parity"):
                assert last[name] == pytest.approx(history[name][-1], abs=0.012), name
            if "record_gradients" in settings:
                norms = grove.gradient_norms.query("fairness_weight == @weight and seed == @seed")
                norms = norms.drop(columns=["fairness_weight", "seed"]).reset_index(drop=True)
                assert list(norms.columns) == list(single.gradient_norms.columns)
                np.testing.assert_allclose(norms, single.gradient_norms, atol=1e-3)


def test_seeds_and_weights_make_a_difference():
    grove = ar.Grove(RELEASED, fairness_weights=WEIGHTS, seeds=SEEDS)
    grove.fit(small_stream(), verbose=0)
    kernels = [grove.model(weight, seed).forest.node_kernel.numpy() for weight in WEIGHTS for seed in SEEDS]
    for one in range(4):
        for other in range(one):
            assert np.abs(kernels[one] - kernels[other]).max() > 1e-3


def test_regression_members_equal_the_single_model():
    rows = small_stream()
    stream = ar.Stream(rows.features, rows.features[:, 0] + rows.groups.astype("float32"), rows.groups)
    grove = ar.Grove(RELEASED | {"num_labels": 1}, fairness_weights=[0.1], seeds=[1])
    last = grove.fit(stream, verbose=0).iloc[-1]
    history = ar.Aranyani(**RELEASED, num_labels=1, fairness_weight=0.1, seed=1).fit(stream, verbose=0).history
    for name in ("mean_squared_error", "demographic_parity"):
        assert last[name] == pytest.approx(history[name][-1], rel=1e-3)


@pytest.mark.parametrize("seeds", [SEEDS, [1]], ids=["several", "one"])
def test_each_seed_may_have_an_order_of_its_own(seeds):
    stream = small_stream()
    grove = ar.Grove(RELEASED, fairness_weights=[0.3], seeds=seeds)
    records = grove.fit(stream, shuffle=True, chunk_size=100, verbose=0)
    for seed in seeds:
        single = ar.Aranyani(**RELEASED, fairness_weight=0.3, seed=seed)
        history = single.fit(stream.shuffled(seed), verbose=0).history
        np.testing.assert_allclose(grove.model(0.3, seed).forest.node_kernel, single.forest.node_kernel, atol=2e-4)
        assert records.query("seed == @seed")["accuracy"].iloc[-1] == pytest.approx(history["accuracy"][-1], abs=0.007)


def test_a_member_s_stream_goes_on_where_the_grove_left_it():
    stream = small_stream()
    grove = ar.Grove(RELEASED, fairness_weights=[0.3], seeds=[0])
    grove.fit(stream[:200], verbose=0)
    member = grove.model(0.3, 0)
    member.fit(stream[200:], verbose=0)
    whole = ar.Aranyani(**RELEASED, fairness_weight=0.3, seed=0)
    whole.fit(stream, verbose=0)
    np.testing.assert_allclose(member.forest.node_kernel, whole.forest.node_kernel, atol=2e-4)
    with pytest.raises(ValueError, match=r"no trained member with fairness_weight 0\.5"):
        grove.model(0.5, 0)


def test_a_wide_grid_is_taken_in_groups_with_the_same_result():
    stream = small_stream()
    whole = ar.Grove(RELEASED, fairness_weights=[0.0, 0.1, 0.3], seeds=[0]).fit(stream, verbose=0)
    from aranyani_tf.grove import grove as module
    module.CACHE, done = 1, []
    try:
        parts = ar.Grove(RELEASED, fairness_weights=[0.0, 0.1, 0.3], seeds=[0]).fit(
            stream, verbose=0, on_chunk=done.append)
    finally:
        module.CACHE = CACHE
    assert sum(done) == 3 * len(stream)
    np.testing.assert_allclose(whole, parts, atol=0.012)


def test_what_a_grove_refuses():
    for wrong, message in (({"seed": 1}, "side of the grid"), ({"fairness_weight": 0.1}, "side of the grid")):
        with pytest.raises(ValueError, match=message):
            ar.Grove(wrong, fairness_weights=[0.1], seeds=[0])
    for weights, seeds in (([], [0]), ([0.1], []), ([0.1, 0.1], [0])):
        with pytest.raises(ValueError, match="at least one value"):
            ar.Grove(fairness_weights=weights, seeds=seeds)
    with pytest.raises(ValueError, match="finite number"):
        ar.Grove(fairness_weights=[-1], seeds=[0])
    with pytest.raises(ValueError, match=r"a checkpoint must be a whole number from 1 to 300, got 301"):
        ar.Grove(RELEASED, fairness_weights=[0.1], seeds=[0]).fit(small_stream(), checkpoints=[301], verbose=0)
    bad = small_stream()
    bad.features[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3: feature 1"):
        ar.Grove(RELEASED, fairness_weights=[0.1], seeds=[0]).fit(bad, verbose=0)


def test_records_equal_sums_over_the_predictions_themselves():
    random = np.random.default_rng(0)
    labels, groups = random.integers(0, 2, (2, 1000))
    outputs = random.dirichlet([1, 1], size=(1000, 3))  # three models
    outputs[:, 1] = outputs[:, 1] * 0.6 + np.eye(2)[groups] * 0.4
    record = StreamRecord(1000, num_models=3, checkpoints=[10, 333, 700])
    for start in range(0, 1000, 170):
        here = slice(start, start + 170)
        record.add(labels[here], groups[here], outputs[here])
    frame, predictions = record.frame(), outputs.argmax(axis=-1)

    def gap(model, rows):
        return demographic_parity_difference(labels[rows], predictions[rows, model], sensitive_features=groups[rows])

    assert frame["step"].tolist() == [10, 333, 700, 1000] * 3
    for _, row in frame.iterrows():
        model, step = int(row["model"]), int(row["step"])
        right = predictions[:, model] == labels
        assert row["accuracy"] == pytest.approx(right[:step].mean())
        assert row["demographic_parity"] == pytest.approx(gap(model, slice(step)))
        windows = [gap(model, slice(start, start + 50)) for start in range(0, step - 49, 50)] or [np.nan]
        assert row["window_demographic_parity"] == pytest.approx(np.mean(windows), nan_ok=True)
        if step > 500:
            assert row["late_accuracy"] == pytest.approx(right[500:step].mean())
            assert row["late_demographic_parity"] == pytest.approx(gap(model, slice(500, step)))
        else:
            assert np.isnan(row["late_accuracy"])


def test_checkpoints_are_log_spaced_and_end_at_the_end():
    points = log_spaced(32_561)
    assert points[0] == 100 and points[-1] == 32_561 and len(points) > 15
    assert np.ptp(np.diff(np.log(points))[1:-1]) < 0.05
    assert log_spaced(30) == [30]


def test_held_out_rows_are_judged_by_the_models_as_they_are_at_each_checkpoint():
    stream, aside = ar.datasets.load("synthetic", num_rows=700, seed=3).held_out(0.2, seed=1)
    grove = ar.Grove({"num_trees": 1, "height": 2}, fairness_weights=[0.0, 1.0], seeds=[0, 4])
    records = grove.fit(stream, held_out=aside, checkpoints=[100, 300], verbose=0)
    plain = ar.Grove({"num_trees": 1, "height": 2}, fairness_weights=[0.0, 1.0], seeds=[0, 4]).fit(
        stream, checkpoints=[100, 300], verbose=0)
    pd.testing.assert_frame_equal(records[plain.columns], plain)  # looking changes nothing
    for step in (100, len(stream)):
        single = ar.Aranyani(num_trees=1, height=2, fairness_weight=1.0, seed=4)
        single.predict_then_learn(stream.features[:step], stream.labels[:step], stream.groups[:step])
        said = single.predict(aside.features, verbose=0).argmax(axis=1)
        row = records.query("fairness_weight == 1 and seed == 4 and step == @step").iloc[0]
        assert row["held_out_accuracy"] == pytest.approx((said == aside.labels).mean(), abs=0.01)
        gap = abs(said[aside.groups == 0].mean() - said[aside.groups == 1].mean())
        assert row["held_out_demographic_parity"] == pytest.approx(gap, abs=0.03)
