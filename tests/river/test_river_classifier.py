"""Aranyani as a classifier of River: the same numbers as the model's own, by name."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from river import compose, evaluate, metrics, preprocessing, stats, stream

import aranyani_tf as ar
from aranyani_tf.adapters.named_features import first_direction
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.river import AranyaniClassifier
from aranyani_tf.variables import put, value_of

NAMES = [f"f{number}" for number in range(8)]  # as many as a multiple of eight, and in their order


def small(**settings):
    return AranyaniClassifier(**{"num_trees": 2, "height": 2, "fairness_weight": 3.0, "seed": 0} | settings)


def rows(num_rows=60, num_features=8, **options):
    """(x, y, group) of a seeded stream, with labels and groups as text."""
    made = ar.datasets.load("synthetic", num_rows=num_rows, num_features=num_features, seed=2, **options)
    return [(dict(zip(NAMES, x, strict=False)), ["no", "yes"][y], "fmd"[a]) for x, y, a in zip(
        made.features.tolist(), made.labels, made.groups, strict=True)]


def learned(model, some):
    for x, y, group in some:
        model.learn_one(x, y, group=group)
    return model


def state(model):
    """Everything that learning moves."""
    inner = model.model
    return [np.array(value_of(variable)) for variable in [*inner.weights, *inner.optimizer.variables]]


def assert_same(one, other):
    for a, b in zip(state(one), state(other), strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_says_what_the_model_says_that_begins_with_the_same_directions():
    some = rows(200)
    model = ar.Aranyani(num_trees=2, height=2, fairness_weight=3.0, seed=0)
    model.build_for(8)
    put(model.forest.node_kernel, np.stack([first_direction(0, name, (2, 3)) for name in NAMES], axis=1))
    classifier = small(labels=("no", "yes"))
    x = np.array([list(row.values()) for row, *_ in some], "float32")
    y = np.array([["no", "yes"].index(label) for _, label, _ in some])
    groups = [group for *_, group in some]
    a = np.array([list(dict.fromkeys(groups)).index(group) for group in groups])  # in the order of appearance
    expected, found = model.predict_then_learn(x, y, a), []
    for row, label, group in some:
        found.append(classifier.predict_proba_one(row)["yes"])
        classifier.learn_one(row, label, group=group)
    assert found[0] == 0.5  # before the first row it knows no feature
    np.testing.assert_allclose(found[1:], expected[1:, 1] / expected[1:].sum(axis=1), rtol=1e-6)
    assert classifier.model.so_far() == model.so_far()


def test_learn_many_is_learn_one_for_each_row_to_the_last_bit():
    some = rows(90)
    some[5], some[7] = (some[5][0], None, some[5][2]), (*some[7][:2], None)
    one, many = learned(small(), some), small()
    for start, stop in ((0, 1), (1, 50), (50, 50), (50, 90)):
        x, y, groups = zip(*some[start:stop], strict=True) if stop > start else ((), (), ())
        many.learn_many(pd.DataFrame(list(x), columns=NAMES), pd.Series(y, dtype=object), groups=groups)
    assert_same(one, many)
    assert one._labels.codes == many._labels.codes and one._groups.codes == many._groups.codes
    table = pd.DataFrame([x for x, *_ in some], index=range(100, 190))
    said = many.predict_proba_many(table)
    assert said.index.equals(table.index) and list(said.columns) == one._labels.known
    assert said.to_dict("records") == [one.predict_proba_one(x) for x, *_ in some]
    assert many.predict_many(table).tolist() == [one.predict_one(x) for x, *_ in some]


def test_a_feature_that_appears_later_finds_the_model_that_always_had_it_as_0():
    """Nine new ones, so that there has to be more room."""
    some = rows(60)
    late = [f"late{number}" for number in range(9)]
    numbers = np.random.default_rng(0).normal(size=(60, 9)).tolist()
    with_late = [(x | dict(zip(late, values, strict=True)), y, a)
                 for (x, y, a), values in zip(some, numbers, strict=True)]
    grown, wide = learned(small(), some), small()
    wide._place_features(NAMES)
    wide._place_features(late)
    learned(wide, some)
    assert grown._forest.num_features == 8 and wide._forest.num_features == 24
    before = [grown.predict_proba_one(x) for x, *_ in some]
    assert [wide.predict_proba_one(x) for x, *_ in some] == before
    assert [grown.predict_proba_one(x) for x, *_ in with_late] == before  # it has learned nothing of them
    grown._place_features(late)
    assert [grown.predict_proba_one(x) for x, *_ in some] == before  # a row without them is answered as before
    assert [grown.predict_proba_one(x) for x, *_ in with_late] != before
    assert_same(learned(grown, with_late), learned(wide, with_late))


def test_an_absent_feature_counts_0_and_the_order_of_features_does_not_count():
    some = rows(40)
    sparse = [({name: value for name, value in x.items() if value > 0}, y, a) for x, y, a in some]
    filled = [({name: max(value, 0.0) for name, value in x.items()}, y, a) for x, y, a in some]
    turned = [(dict(reversed(x.items())), y, a) for x, y, a in filled]
    one, other, third = (learned(small(), [first[0], *each])  # where all features get their places
                         for first, each in ((filled, sparse), (filled, filled), (turned, turned)))
    assert_same(one, other)
    assert_same(one, third)
    empty = one.predict_proba_one({})
    assert empty == one.predict_proba_one(dict.fromkeys(NAMES, 0))
    learned(small(), [({}, "no", "f"), *some])  # it may even be the first row


def test_more_features_than_there_is_room_for_are_named():
    model = learned(small(max_features=8, num_labels=3, num_groups=3), rows(5))
    before = pickle.dumps(model)
    with pytest.raises(RowError, match=r"the feature 'g' is new, and there is room for 8.*max_features"):
        model.learn_one({"f1": 1.0, "g": 2.0}, "new label", group="new group")
    assert pickle.dumps(model) == before  # not even the label was taken


@pytest.mark.parametrize(("x", "told"), [
    ({"f1": 1.0, "f2": "Pune"}, "feature 'f2' must be a number, got 'Pune'.*OneHotEncoder"),
    ({"f1": "1.5"}, "feature 'f1' must be a number"), ({"f1": None}, "feature 'f1' must be a number"),
    ({"f1": float("nan")}, "feature 'f1' is nan.*StatImputer"), ({"f1": 10**30}, "feature 'f1' is 1000"),
    ({"f1": 1e19, "new": 1.0}, "feature 'f1' is 1e")])
def test_what_is_no_number_is_named_and_changes_nothing(x, told):
    model = learned(small(), rows(5))
    before = pickle.dumps(model)
    with pytest.raises(RowError, match=told):
        model.learn_one(x, "no", group="f")
    with pytest.raises(RowError, match=told):
        model.predict_one(x)
    frame = pd.DataFrame([dict.fromkeys(x, 0.5), x])
    with pytest.raises(RowError, match=r"column '|row 1: feature '"):
        model.learn_many(frame, ["no", "new label"], groups=["f", "new group"])
    assert pickle.dumps(model) == before


def test_a_label_or_a_group_too_many_is_named_and_changes_nothing():
    model = learned(small(), [({"f1": 0.5}, "no", "f"), ({"f1": 0.6}, "yes", "m")])
    before = pickle.dumps(model)
    with pytest.raises(RowError, match=r"the label 'maybe' is new.*'no', 'yes'.*num_labels=3"):
        model.learn_one({"f1": 1.0}, "maybe", group="f")
    with pytest.raises(RowError, match=r"the group 'd' is new.*'f', 'm'.*num_groups=3"):
        model.learn_one({"f1": 1.0, "new": 2.0}, "no", group="d")
    assert pickle.dumps(model) == before
    wider = learned(small(num_groups=3), rows(50, num_groups=3))
    assert wider._groups.known == list(dict.fromkeys(group for *_, group in rows(50, num_groups=3)))


def test_labels_may_be_of_any_kind_and_have_names_only_once_they_came():
    model = small(num_labels=3)
    assert model.predict_proba_one({"f1": 1.0}) == {} and model.predict_one({"f1": 1.0}) is None
    assert model.predict_many(pd.DataFrame({"f1": [1.0]})).tolist() == [None]
    for label in (("a", 1), "b", 7):
        model.learn_one({"f1": 1.0}, label)
        assert label in model.predict_proba_one({"f1": 1.0})
        assert sum(model.predict_proba_one({"f1": 1.0}).values()) == pytest.approx(1.0, abs=1e-12)
    assert list(model.predict_proba_many(pd.DataFrame({"f1": [1.0]})).columns) == [("a", 1), "b", 7]
    assert small().predict_proba_one({}) == {False: 0.5, True: 0.5}
    assert small(labels=("no", "yes")).predict_proba_one({}) == {"no": 0.5, "yes": 0.5}
    with pytest.raises(ArgumentError, match="num_labels is 3, but labels are 2"):
        small(labels=("no", "yes"), num_labels=3)


def test_predicting_changes_nothing():
    model = learned(small(), rows(20))
    before = pickle.dumps(model)
    model.predict_one({"f1": 1.0, "new": 3.0}, group="whoever")
    model.predict_proba_one({"new": 3.0}, group=["not even", "a name"])
    model.predict_many(pd.DataFrame({"new": [3.0]}))
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("copied", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy,
                                    lambda model: model.clone(include_attributes=True)])
@pytest.mark.parametrize("seed", [0, None])
def test_a_copy_in_the_middle_goes_on_as_if_nothing_had_been(copied, seed):
    some = rows(80)
    model = learned(small(seed=seed), some[:40])
    model.fairness_weight = 7.0
    other = copied(model)
    assert repr(other) == repr(model) and other.fairness_weight == 7.0
    assert other.model is not model.model
    more = [(x | {"new": 1.0}, y, a) for x, y, a in some[40:]]  # a feature's first directions go on, too
    assert_same(learned(model, more), learned(other, more))
    assert other.model.so_far()["rows"] == 80


def test_a_clone_knows_nothing_and_has_all_settings():
    model = learned(small(notion=ar.EqualOpportunity(), penalty=ar.Huber(linear_slope=1.0), decay=0.01), rows(10))
    model.mutate({"fairness_weight": 0.5})
    clone = model.clone()
    assert clone.predict_proba_one({}) == {False: 0.5, True: 0.5} and repr(clone).count("=") == repr(model).count("=")
    assert clone.fairness_weight == 0.5 == model.model.fairness_weight and clone.decay == 0.01


def test_a_wrong_setting_is_refused_at_once():
    for setting in ({"height": 0}, {"notion": "none"}, {"learning_rate": -1}, {"num_labels": 1}, {"max_features": 0},
                    {"fairness_weight": -1}, {"labels": ("a", "a")}, {"seed": -1}):
        with pytest.raises(ArgumentError, match=f"{next(iter(setting))[:-1]}|{next(iter(setting.values()))}"):
            small(**setting)


def test_weights_are_those_of_the_model_by_row_and_by_frame():
    rows, labels, weights = pd.DataFrame({"f1": [1.0, 2.0, -1.0, 0.5]}), [True, False, True, True], [1.0, 3.0, 0.0, 0.5]
    one_by_one, at_once, plain = small(), small(), small()
    for x, y, w in zip(rows.to_dict("records"), labels, weights, strict=True):
        one_by_one.learn_one(x, y, group="f", w=w)
        plain.learn_one(x, y, group="f")
    at_once.learn_many(rows, labels, groups=["f"] * 4, w=weights)
    said = [model.predict_proba_one({"f1": 0.3}) for model in (one_by_one, at_once, plain)]
    assert said[0] == said[1] != said[2]


def test_weights_that_cannot_be_are_refused():
    model = small()
    model.learn_one({"f1": 1.0}, True, w=1.0)
    for weight in (-1.0, float("nan"), "much"):
        with pytest.raises(ArgumentError, match="w must be"):
            model.learn_one({"f1": 1.0}, True, w=weight)
    with pytest.raises(ArgumentError, match=r"w must have shape \(2,\)"):
        model.learn_many(pd.DataFrame({"f1": [1.0, 2.0]}), [True, False], w=[1.0, 3.0, 1.0])


def gap(fairness_weight):
    """The gap in decisions, and the accuracy, of a pipeline that River evaluates."""
    made = ar.datasets.load("synthetic", num_rows=3000, num_features=4, seed=0)
    rate = {0: stats.Mean(), 1: stats.Mean()}
    model = preprocessing.StandardScaler() | AranyaniClassifier(
        constraint="output", fairness_weight=fairness_weight, penalty=ar.Huber(linear_slope=1.0), seed=0)
    dataset = [(x, bool(y), {"group": a}) for (x, y), a in zip(
        stream.iter_array(made.features, made.labels), made.groups.tolist(), strict=True)]
    accuracy = metrics.Accuracy()
    steps = evaluate.iter_progressive_val_score(dataset, model, accuracy, yield_predictions=True)
    for step, (*_, keywords) in zip(steps, dataset, strict=True):
        rate[keywords["group"]].update(step["Prediction"])
    return abs(rate[0].get() - rate[1].get()), accuracy.get()


def test_river_hands_the_group_through_a_pipeline_and_λ_makes_the_gap_smaller():
    (unfair, accuracy), (fair, fair_accuracy) = gap(0.0), gap(10.0)
    assert unfair > 0.1 and fair < unfair / 3
    assert accuracy > 0.65 > fair_accuracy > 0.55


def test_in_a_pipeline_learn_many_takes_groups_and_categories_become_features():
    encode = compose.SelectType(str) | preprocessing.OneHotEncoder()
    model = (compose.SelectType(float) | preprocessing.StandardScaler()) + encode | small()
    for number, city in enumerate(["Pune", "Lima", "Pune", "Rome"] * 5):
        model.learn_one({"age": float(number), "city": city}, number % 2, group=city == "Lima")
    assert len(model["AranyaniClassifier"]._features.names) == 4
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    scaled = preprocessing.StandardScaler() | small()
    scaled.learn_many(table, pd.Series([0, 1, 0]), groups=["f", "m", "f"])
    assert scaled["AranyaniClassifier"]._groups.known == ["f", "m"] and len(scaled.predict_many(table)) == 3
