"""Aranyani as a classifier of scikit-learn: the same numbers as the model's own, and scikit-learn's habits."""

import pickle

import keras
import numpy as np
import pandas as pd
import pytest
import sklearn
from fairlearn.metrics import demographic_parity_difference
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.scikit import FairForestClassifier

SMALL = {"num_trees": 2, "height": 2, "fairness_weight": 3.0, "random_state": 0}


@pytest.fixture(scope="module")
def stream():
    return ar.datasets.load("synthetic", num_rows=400, num_features=4, seed=3)


def test_partial_fit_is_the_model_s_own_stream(stream):
    """However it is cut, with labels and groups by name."""
    model = ar.Aranyani(num_trees=2, height=2, fairness_weight=3.0, seed=int(np.random.RandomState(0).randint(2**31)))
    model.compile(keras.optimizers.Adam(0.01))
    codes = pd.factorize(stream.groups)[0]
    model.predict_then_learn(stream.features, stream.labels, codes)
    forest = FairForestClassifier(learning_rate=0.01, **SMALL)
    labels, groups = np.array(["no", "yes"])[stream.labels], np.array(["f", "m"])[stream.groups]
    for start, stop in ((0, 1), (1, 7), (7, 400)):
        forest.partial_fit(stream.features[start:stop], labels[start:stop], classes=["yes", "no"],
                           sensitive_features=groups[start:stop])
    np.testing.assert_array_equal(forest.predict_proba(stream.features), model.predict(stream.features))
    assert forest.classes_.tolist() == ["no", "yes"] and forest.groups_ == list(dict.fromkeys(groups.tolist()))
    assert set(forest.predict(stream.features)) == {"no", "yes"} and forest.n_features_in_ == 4
    assert forest.model_.so_far() == model.so_far()


def test_fit_is_partial_fit_as_often_as_there_are_epochs_and_begins_anew(stream):
    fitted = FairForestClassifier(epochs=3, **SMALL)
    for _ in range(2):  # the second time as if there had been no first
        fitted.fit(stream.features, stream.labels, sensitive_features=stream.groups)
    by_parts = FairForestClassifier(**SMALL)
    for _ in range(3):
        by_parts.partial_fit(stream.features, stream.labels, [0, 1], sensitive_features=stream.groups)
    np.testing.assert_array_equal(fitted.predict_proba(stream.features), by_parts.predict_proba(stream.features))


def test_λ_makes_the_gap_smaller_as_fairlearn_counts_it(stream):
    def gap(fairness_weight):
        forest = FairForestClassifier(
            fairness_weight=fairness_weight, constraint="output", penalty=ar.Huber(linear_slope=1.0), random_state=0)
        forest.fit(stream.features, stream.labels, sensitive_features=stream.groups)
        assert forest.score(stream.features, stream.labels) > 0.6
        said = forest.predict(stream.features)
        return demographic_parity_difference(stream.labels, said, sensitive_features=stream.groups)

    assert gap(0.0) > 0.2 and gap(1.0) < gap(0.0) / 3


@pytest.mark.parametrize("make", [
    list, pd.Series, lambda groups: pd.DataFrame({"sex": groups}), lambda groups: np.array(groups)[:, None],
    lambda groups: pd.DataFrame({"sex": groups, "age": "old"}),
    lambda groups: [None if group == "x" else group for group in groups]])
def test_groups_may_come_in_any_form(make, stream):
    groups = make(["fm"[code] for code in stream.groups])
    forest = FairForestClassifier(**SMALL).fit(stream.features, stream.labels, sensitive_features=groups)
    other = FairForestClassifier(**SMALL).fit(stream.features, stream.labels,
                                              sensitive_features=["fm"[code] for code in stream.groups])
    np.testing.assert_array_equal(forest.predict_proba(stream.features), other.predict_proba(stream.features))


def test_a_group_that_is_not_known_is_missing_in_one_column_or_in_several(stream):
    table = pd.DataFrame({"sex": ["f", "m", None, "f"], "age": ["old", None, "old", "old"]})
    forest = FairForestClassifier(**SMALL).partial_fit(
        stream.features[:4], [0, 1, 0, 1], [0, 1], sensitive_features=table)
    assert forest.groups_ == [("f", "old")]
    np.testing.assert_array_equal(forest.model_.statistics.cell_count[:1], 2)


def test_what_cannot_be_is_named(stream):
    x, y = stream.features[:20], stream.labels[:20]
    forest = FairForestClassifier(**SMALL)
    with pytest.raises(ArgumentError, match="first call of partial_fit needs all classes"):
        forest.partial_fit(x, y)
    forest.partial_fit(x, y, [0, 1], sensitive_features=["f", "m"] * 10)
    before = forest.predict_proba(x)
    with pytest.raises(RowError, match=r"the group 'd' is new, and there is room for 2: 'f', 'm'.*num_groups=3"):
        forest.partial_fit(x, y, sensitive_features=["d"] * 20)
    with pytest.raises(RowError, match=r"the class .*2.* is not among those of the first call"):
        forest.partial_fit(x, np.full(20, 2))
    with pytest.raises(ArgumentError, match="were"):
        forest.partial_fit(x, y, classes=[0, 1, 2])
    with pytest.raises(RowError, match="one value for each of 20 rows, got 3"):
        forest.partial_fit(x, y, sensitive_features=["f", "m", "f"])
    with pytest.raises(ArgumentError, match=r"sample_weight must be finite and at least 0; got -2.0"):
        forest.partial_fit(x, y, sample_weight=np.full(20, -2.0))
    with pytest.raises(ArgumentError, match="sample_weight must have shape"):
        forest.partial_fit(x, y, sample_weight=np.ones(3))
    np.testing.assert_array_equal(forest.predict_proba(x), before)
    with pytest.raises(ArgumentError, match="epochs"):
        FairForestClassifier(epochs=0).fit(x, y)
    with pytest.raises(ArgumentError, match="height"):
        FairForestClassifier(height=0).fit(x, y)


def test_a_pickle_goes_on_where_it_was_and_a_clone_knows_nothing(stream):
    first, later = (slice(0, 200), slice(200, 400))
    forest = FairForestClassifier(**SMALL)
    forest.partial_fit(stream.features[first], stream.labels[first], [0, 1], sensitive_features=stream.groups[first])
    other = pickle.loads(pickle.dumps(forest))
    for each in (forest, other):
        each.partial_fit(stream.features[later], stream.labels[later], sensitive_features=stream.groups[later])
    np.testing.assert_array_equal(other.predict_proba(stream.features), forest.predict_proba(stream.features))
    assert other.model_.so_far() == forest.model_.so_far()
    assert clone(forest).get_params() == forest.get_params() and not hasattr(clone(forest), "classes_")


def test_it_goes_through_pipelines_and_searches_with_the_groups(stream):
    table = pd.DataFrame(stream.features, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), FairForestClassifier(epochs=1, **SMALL))
    pipeline.fit(table, stream.labels, fairforestclassifier__sensitive_features=stream.groups)
    assert pipeline[-1].groups_ and pipeline.predict(table).shape == (400,)
    with sklearn.config_context(enable_metadata_routing=True):
        forest = FairForestClassifier(epochs=1, **SMALL).set_fit_request(sensitive_features=True)
        search = GridSearchCV(forest, {"fairness_weight": [0.0, 10.0]}, cv=2)
        search.fit(table, stream.labels, sensitive_features=stream.groups)
    assert search.best_estimator_.groups_ and search.best_estimator_.feature_names_in_.tolist() == list("abcd")
