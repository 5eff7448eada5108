"""A regression target in any unit: scaled along the stream, predictions in its unit, nothing ahead of time."""

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.learning.target_scale import TargetScale

SETTINGS = {"num_labels": 1, "num_trees": 2, "height": 3}


def wages(n=4000, seed=0):
    """A target of some tens of thousands, as wages are."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, 2, n)
    x = random.normal(size=(n, 4)).astype("float32")
    return ar.Stream(x, (40_000 + 9_000 * x[:, 0] - 4_000 * x[:, 1] + 1_000 * random.normal(size=n)).astype("float32"),
                     groups)


def test_an_unscaled_target_is_learned_better_than_by_its_mean():
    stream = wages()
    scaled, plain = ar.Aranyani(**SETTINGS, seed=0), ar.Aranyani(**SETTINGS, scale_target=False, seed=0)
    errors = [model.fit(stream, verbose=0).history["recent_mean_squared_error"][-1] for model in (scaled, plain)]
    assert errors[0] < 0.5 * stream.labels.var() < errors[1]


def test_predictions_are_in_the_target_s_unit():
    stream = wages()
    model = ar.Aranyani(**SETTINGS, seed=0)
    said = model.predict_then_learn(stream.features, stream.labels, stream.groups)
    later = model.predict(stream.features[:500], verbose=0)
    for answers in (said[-500:], later):
        assert 30_000 < answers.mean() < 50_000 and answers.std() > 3_000


def test_the_running_scale_is_that_of_pandas_and_knows_nothing_of_later_labels():
    labels = np.random.default_rng(0).normal(5e6, 10, 300).astype("float32")
    labels[[0, 7, 50]] = np.nan
    scale = TargetScale()
    scale.build()
    parts = [scale.scaled(keras.ops.convert_to_tensor(part)) for part in (labels[:120], labels[120:])]
    learned = np.concatenate([part[0] for part in parts])
    center = np.concatenate([part[1][0] for part in parts])
    seen = pd.Series(labels.astype("float64"))
    means, deviations = seen.expanding(1).mean(), seen.expanding(1).std(ddof=0)
    known = seen.notna() & (deviations > 0)
    np.testing.assert_allclose(learned[known], ((seen - means) / deviations)[known], atol=1e-4)
    np.testing.assert_allclose(center[2:], means.to_numpy()[1:-1], rtol=1e-12)
    assert center[0] == center[1] == 0  # nothing known yet


def test_another_unit_of_the_target_gives_the_same_answers_in_that_unit():
    stream = wages(600)
    dollars, cents = (ar.Aranyani(**SETTINGS, seed=0, dtype="float64") for _ in range(2))
    one = dollars.predict_then_learn(stream.features, stream.labels, stream.groups)
    other = cents.predict_then_learn(stream.features, 100.0 * stream.labels.astype("float64"), stream.groups)
    np.testing.assert_allclose(100 * one[2:], other[2:], rtol=1e-6)


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_grove_member_equals_the_single_model_in_the_target_s_unit(shuffle):
    stream = wages(600)
    grove = ar.Grove(SETTINGS, fairness_weights=[0.0, 1.0], seeds=[0, 1])
    records = grove.fit(stream, shuffle=shuffle, verbose=0, held_out=wages(50, seed=1))
    single = ar.Aranyani(**SETTINGS, fairness_weight=1.0, seed=1)
    single.fit(stream.shuffled(1) if shuffle else stream, verbose=0)
    member = grove.model(1.0, 1)
    np.testing.assert_allclose(member.predict(stream.features[:9], verbose=0),
                               single.predict(stream.features[:9], verbose=0), rtol=1e-3)
    last = records.query("fairness_weight == 1 and seed == 1").iloc[-1]
    assert last["mean_squared_error"] == pytest.approx(single.so_far()["mean_squared_error"], rel=1e-3)
    assert last["held_out_mean_squared_error"] < 2 * wages(50, seed=1).labels.var()


def test_the_scale_is_saved_exported_and_cut_into_calls_without_a_trace(tmp_path):
    stream = wages(300)
    whole, cut = (ar.Aranyani(**SETTINGS, seed=0) for _ in range(2))
    whole.predict_then_learn(stream.features, stream.labels, stream.groups)
    for start in range(0, 300, 64):
        piece = stream[start : start + 64]
        cut.predict_then_learn(piece.features, piece.labels, piece.groups)
    np.testing.assert_allclose(whole.predict(stream.features, verbose=0), cut.predict(stream.features, verbose=0),
                               rtol=1e-4)
    cut.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(stream.features, verbose=0), cut.predict(stream.features, verbose=0))
    loaded.export(tmp_path / "exported", verbose=False)
    served = tf.saved_model.load(str(tmp_path / "exported"))
    np.testing.assert_allclose(served.serve(stream.features), cut.predict(stream.features, verbose=0), rtol=1e-5)
