"""Bad input is named, and the model is left exactly as it was."""

import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar


def rows(n=40, d=3):
    random = np.random.default_rng(0)
    return random.normal(size=(n, d)).astype("float32"), random.integers(0, 2, n), random.integers(0, 2, n)


@pytest.fixture(scope="module")
def model():
    model = ar.Aranyani(num_trees=2, height=2, seed=0)
    model.predict_then_learn(*rows())
    return model


def spoilt(what):
    x, y, a = (array.copy() for array in rows())
    if what == "nan":
        x[17, 1] = np.nan
    elif what == "infinity":
        x[17, 1] = -np.inf
    elif what == "overflow":
        x = x.astype("float64")
        x[17, 1] = 1e300
    elif what == "label":
        y[17] = 2
    elif what == "negative label":
        y[17] = -2
    elif what == "fractional label":
        y = y + 0.0
        y[17] = 0.5
    elif what == "group":
        a[17] = 2
    elif what == "nan group":
        a = a + 0.0
        a[17] = np.nan
    return x, y, a


SPOILT = ["nan", "infinity", "overflow", "label", "negative label", "fractional label", "group", "nan group"]


@pytest.mark.parametrize("what", SPOILT)
@pytest.mark.parametrize("how", ["stream", "arrays", "dataset", "predict_then_learn"])
def test_a_bad_row_is_named_and_nothing_is_touched(model, what, how):
    x, y, a = spoilt(what)
    before = [w.tobytes() for w in model.get_weights() + [v.numpy() for v in model.optimizer.variables]]
    batch = ({"features": x, "group": a}, y)
    learn = {
        "stream": lambda: model.fit(ar.Stream(x, y, a), verbose=0),
        "arrays": lambda: model.fit(*batch, batch_size=10, verbose=0),
        "dataset": lambda: model.fit(tf.data.Dataset.from_tensor_slices(batch).batch(40), verbose=0),
        "predict_then_learn": lambda: model.predict_then_learn(x, y, a)}
    with pytest.raises(ValueError, match="row 17"):
        learn[how]()
    after = [w.tobytes() for w in model.get_weights() + [v.numpy() for v in model.optimizer.variables]]
    assert before == after


@pytest.mark.parametrize("what", ["nan", "infinity", "overflow", "label", "fractional label", "nan group"])
def test_skipping_tells_how_many_and_learns_the_rest(what):
    x, y, a = spoilt(what)
    good = np.arange(len(x)) != 17
    skipping, clean = (ar.Aranyani(num_trees=2, height=2, seed=0) for _ in range(2))
    with pytest.warns(UserWarning, match="skipped 1 of 40 rows.*row 17"):
        skipping.fit(ar.Stream(x, y, a), on_bad_rows="skip", verbose=0)
    clean.fit(ar.Stream(x[good], y[good], a[good]), verbose=0)
    for ours, expected in zip(skipping.get_weights(), clean.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_skipped_rows_have_no_prediction():
    x, y, a = spoilt("nan")
    model = ar.Aranyani(num_trees=2, height=2, seed=0, on_bad_rows="skip")
    with pytest.warns(UserWarning, match="skipped 1 of 40"):
        said = model.predict_then_learn(x, y, a)
    assert np.isnan(said[17]).all() and np.isfinite(np.delete(said, 17, axis=0)).all()


def test_a_feature_is_named_if_it_has_a_name():
    x, y, a = spoilt("nan")
    stream = ar.Stream(x, y, a, feature_names=["age", "hours", "sex"])
    with pytest.raises(ValueError, match=r"row 17: feature 1 \(hours\) is nan"):
        ar.Aranyani().fit(stream, verbose=0)


def test_a_wrong_feature_count_is_named(model):
    x, y, a = rows(d=5)
    with pytest.raises(ValueError, match="takes 3 features, the rows have 5"):
        model.fit(ar.Stream(x, y, a), verbose=0)


def test_empty_streams_and_ragged_columns_are_refused(model):
    x, y, a = rows()
    with pytest.raises(ValueError, match="empty"):
        ar.Stream(x[:0], y[:0], a[:0])
    with pytest.raises(ValueError, match="empty"):
        model.fit({"features": x[:0], "group": a[:0]}, y[:0], verbose=0)
    with pytest.raises(ValueError, match="empty"):
        model.predict_then_learn(x[:0], y[:0], a[:0])
    with pytest.raises(ValueError, match=r"labels must have shape \(40,\)"):
        ar.Stream(x, y[:5], a)
    with pytest.raises(ValueError, match="none of the 40 rows"):
        model.fit(ar.Stream(x * np.nan, y, a), on_bad_rows="skip", verbose=0)
    with pytest.raises(ValueError, match="encode categories"):
        ar.Stream(x, np.array(["no", "yes"] * 20), a)


@pytest.mark.parametrize(("settings", "named"), [
    ({"height": 0}, "height"), ({"num_trees": 0}, "num_trees"), ({"num_groups": 1}, "num_groups"),
    ({"notion": "kindness"}, "kindness.*demographic_parity"), ({"constraint": "branch"}, "branch"),
    ({"penalty": "l7"}, "l7"), ({"fairness_weight": -1}, "fairness_weight"),
    ({"fairness_weight": np.nan}, "fairness_weight"), ({"decay": 1.5}, "decay"),
    ({"samples_per_step": 0}, "samples_per_step"), ({"update_when": "never"}, "update_when"),
    ({"on_bad_rows": "ignore"}, "on_bad_rows"), ({"unheard_of": 1}, "unheard_of"),
    ({"notion": "representation_parity", "constraint": "node"}, "output")], ids=str)
def test_a_wrong_setting_is_named(settings, named):
    with pytest.raises((ValueError, TypeError), match=named):
        ar.Aranyani(**settings)


def test_the_group_may_not_be_forgotten(model):
    x, y, a = rows()
    with pytest.raises(ValueError, match="group is missing"):
        model.fit(x, y, verbose=0)
    with pytest.raises(ValueError, match="labels are missing"):
        model.fit({"features": x, "group": a}, verbose=0)
