"""The ceilings: each says what River or scikit-learn say in a loop of their own."""

import numpy as np
import pytest
from river import forest, linear_model, preprocessing
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier

import aranyani_tf as ar
from aranyani_tf.baselines.pieces import boosting_on_windows, one_thread, sgd
from aranyani_tf.baselines.river_ceilings import adaptive_random_forest, scaled_logistic_regression

BOOSTING = {"max_iter": 5, "max_depth": 2}


def small_stream(num_rows=400):
    return ar.datasets.load("synthetic", num_rows=num_rows, num_features=4, seed=3)


def said_by(learner, stream, chunk=70):
    """In chunks that are no multiple of any piece."""
    return np.concatenate([learner.predict_then_learn(part.features, part.labels, part.groups)
                           for part in (stream[start : start + chunk] for start in range(0, len(stream), chunk))])


@pytest.mark.parametrize(("ours", "river"), [
    (lambda: adaptive_random_forest(num_trees=3, seed=7), lambda: forest.ARFClassifier(n_models=3, seed=7)),
    (scaled_logistic_regression, lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression())],
    ids=["forest", "logistic"])
def test_they_say_what_river_says_in_a_loop_of_its_own(ours, river):
    stream, classifier, expected = small_stream(), river(), []
    for x, y in zip(stream.features.tolist(), stream.labels.tolist(), strict=True):
        said = classifier.predict_proba_one(dict(enumerate(x)))
        expected.append([said.get(0, 0.0), said.get(1, 0.0)] if said else [0.5, 0.5])
        classifier.learn_one(dict(enumerate(x)), y)
    np.testing.assert_array_equal(said_by(ours(), stream), expected)


def test_boosting_on_windows_is_a_loop_of_fits_on_the_last_rows():
    stream, piece, window = small_stream(), 60, 150
    x, y = stream.features, stream.labels
    expected = [[0.5, 0.5]]
    expected += [np.bincount(y[:row], minlength=2) / row for row in range(1, piece)]  # no model yet
    for start in range(piece, len(y), piece):
        past = slice(max(start - window, 0), start)
        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0, **BOOSTING)
        with one_thread():  # many are slow on a machine that has other things to do
            expected += list(model.fit(x[past], y[past]).predict_proba(x[start : start + piece]))
    learner = boosting_on_windows(piece=piece, window=window, **BOOSTING)
    np.testing.assert_array_equal(said_by(learner, stream), expected)
    assert learner.rows[0].shape == (window, 4)  # what is kept does not grow


@pytest.mark.parametrize("piece", [1, 25])
def test_sgd_is_a_loop_of_partial_fits(piece):
    stream = small_stream(150)
    x, y = stream.features, stream.labels
    model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01, shuffle=False)
    expected = [[0.5, 0.5]] + [np.bincount(y[:row], minlength=2) / row for row in range(1, piece)]
    for start in range(piece, len(y), piece):
        model.partial_fit(x[start - piece : start], y[start - piece : start], classes=[0, 1])
        expected += list(model.predict_proba(x[start : start + piece]))
    np.testing.assert_array_equal(said_by(sgd(piece=piece), stream), expected)


def test_a_window_of_one_label_is_not_fitted_and_rows_without_a_label_take_no_place_in_it():
    stream = small_stream(90)
    labels = np.where(np.arange(90) < 40, 0, stream.labels)
    labels[60:70] = -1
    learner = boosting_on_windows(piece=20, window=45, **BOOSTING)
    said = learner.predict_then_learn(stream.features, labels, stream.groups)
    np.testing.assert_array_equal(said[1:40], [[1.0, 0.0]] * 39)  # the majority so far
    assert learner.rows[0].shape == (45, 4) and (learner.rows[1] >= 0).all()
    np.testing.assert_array_equal(learner.rows[0], stream.features[np.r_[25:60, 70:80]])
    assert learner.rows_of_piece == 10
