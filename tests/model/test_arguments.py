"""Wrong arguments are refused by name, with one of our own errors; what would have no effect is refused too."""

import keras
import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.baselines.fermi import Fermi
from aranyani_tf.baselines.hoeffding import hoeffding_tree
from aranyani_tf.baselines.reservoir import Reservoir

WRONG = [
    ("num_labels", 0), ("num_labels", 2.0), ("num_labels", True), ("num_labels", "2"), ("num_labels", None),
    ("num_trees", 0), ("num_trees", 1.5), ("height", 0), ("height", 11), ("height", "4"),
    ("fairness_weight", "0.1"), ("fairness_weight", -1), ("fairness_weight", np.nan), ("fairness_weight", 1e39),
    ("fairness_weight", None), ("fairness_weight", 10**400), ("fairness_weight", [0.1]), ("fairness_weight", True),
    ("notion", "parity"), ("notion", ar.DemographicParity), ("notion", 3), ("notion", []),
    ("constraint", "root"), ("constraint", 1), ("constraint", ["node"]),
    ("penalty", ar.Huber), ("penalty", "L1"), ("penalty", 0.1), ("penalty", object()),
    ("num_groups", 1), ("num_groups", 2.5), ("num_groups", "2"),
    ("activation", None), ("activation", "exponential"), ("activation", "relu"), ("activation", "tanh"),
    ("activation", "no such"), ("activation", 7), ("routing", "random"), ("routing", None),
    ("predictor", "mlp"), ("predictor", lambda x: x), ("encoder", 3), ("encoder", keras.layers.Dense),
    ("samples_per_step", 0), ("samples_per_step", "10"), ("online", "False"), ("online", 0), ("online", None),
    ("update_when", "sometimes"), ("update_when", None), ("wait_for_all_groups", "no"), ("wait_for_all_groups", 1),
    ("decay", 0), ("decay", 1), ("decay", "0.01"), ("decay", np.nan), ("record_gradients", "yes"),
    ("on_bad_rows", "ignore"), ("on_bad_rows", None), ("seed", -1), ("seed", 1.5), ("seed", "0"),
    ("scale_target", "True"), ("lambda_", 3), ("num_tree", 3)]


def told(value):
    """The same name in every process."""
    return str(value)[:30] if isinstance(value, (str, int, float, type(None))) else type(value).__name__


@pytest.mark.parametrize(("name", "value"), WRONG, ids=told)
def test_a_wrong_setting_is_named(name, value):
    word = {"lambda_": "unknown setting lambda_", "num_tree": "unknown setting num_tree"}.get(name, name)
    with pytest.raises(ar.errors.ArgumentError, match=word):
        ar.Aranyani(**{name: value})


@pytest.mark.parametrize("settings", [
    {"num_trees": 5}, {"height": 2}, {"activation": "smootherstep"}, {"routing": "mask"}])
def test_settings_of_the_forest_are_refused_beside_a_predictor(settings):
    predictor = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
    with pytest.raises(ar.errors.ArgumentError, match="the forest's"):
        ar.Aranyani(predictor=predictor, **settings)


@pytest.mark.parametrize(("name", "value"), [
    ("fairness_weights", 0.1), ("fairness_weights", "0.1"), ("fairness_weights", []), ("fairness_weights", ["x"]),
    ("fairness_weights", [np.inf]), ("fairness_weights", [1e39]), ("seeds", 3), ("seeds", [-1]), ("seeds", [0, 0]),
    ("seeds", None), ("learning_rate", 0), ("learning_rate", "fast"), ("learning_rate", np.nan)])
def test_a_wrong_side_of_a_grid_is_named(name, value):
    with pytest.raises(ar.errors.ArgumentError, match=name.removesuffix("s").replace("_", ".")):
        ar.Grove({}, **({"fairness_weights": [0.1], "seeds": [0]} | {name: value}))


@pytest.mark.parametrize("make", [lambda: Fermi(chance=2.0), lambda: Reservoir(capacity=5, chance=2.0),
                                  lambda: ar.Huber(delta="x"), lambda: ar.Huber(linear_slope=-1)])
def test_what_a_part_does_not_know_is_refused(make):
    with pytest.raises(ar.errors.ArgumentError):
        make()


def rows(n=30):
    random = np.random.default_rng(0)
    return random.normal(size=(n, 3)).astype("float32"), random.integers(0, 2, n), random.integers(0, 2, n)


class Sparse:
    def toarray(self):
        return rows()[0]


def odd_features():
    x = rows()[0]
    return {"none": None, "text": "abc", "number": 3.0, "ragged": [[1.0, 2.0], [3.0]], "dict": {"a": 1}, "set": {1, 2},
            "generator": (row for row in x), "objects": np.array([[object()] * 3] * 30), "one row": x[0],
            "cube": x[None], "complex": x.astype(complex), "sparse": Sparse(), "texts": x.astype(str),
            "masked": np.ma.masked_array(x, mask=x > 1), "wide": np.hstack([x, x]), "narrow": x[:, :2],
            "empty": x[:0], "nan": np.where(x > 1, np.nan, x)}


@pytest.fixture(scope="module")
def learners():
    model = ar.Aranyani(num_trees=1, height=2, seed=0)
    model.predict_then_learn(*rows())
    return {"aranyani": model, "river": hoeffding_tree()}


@pytest.mark.parametrize("what", list(odd_features()))
@pytest.mark.parametrize("how", ["predict", "predict_then_learn", "fit", "evaluate", "river"])
def test_odd_features_end_in_one_of_our_errors_and_change_nothing(learners, what, how):
    x, (_, y, a) = odd_features()[what], rows()
    if how == "river" and what in ("wide", "narrow"):
        return  # a tree takes any width
    if what == "empty":
        y, a = y[:0], a[:0]
        if how == "river":
            return  # nothing to say, and nothing to learn
    model = learners["aranyani"]
    before = [w.tobytes() for w in model.get_weights() + [v.numpy() for v in model.optimizer.variables]]
    calls = {"predict": lambda: model.predict(x, verbose=0),
             "predict_then_learn": lambda: model.predict_then_learn(x, y, a),
             "fit": lambda: model.fit({"features": x, "group": a}, y, verbose=0),
             "evaluate": lambda: model.evaluate({"features": x, "group": a}, y, verbose=0),
             "river": lambda: learners["river"].predict_then_learn(x, y, a)}
    with pytest.raises(ar.errors.AranyaniError):
        calls[how]()
    assert before == [w.tobytes() for w in model.get_weights() + [v.numpy() for v in model.optimizer.variables]]


@pytest.mark.parametrize("column", [None, "abc", [0] * 29, [[0, 1]] * 30, ["a"] * 30, [None] * 30, 0,
                                    np.ma.masked_array([0] * 30, mask=[True] + [False] * 29), [2**40] * 30,
                                    np.full(30, -(2**63)), [0.5] * 30])
@pytest.mark.parametrize("role", ["labels", "groups"])
def test_odd_labels_and_groups_end_in_one_of_our_errors(learners, role, column):
    x, y, a = rows()
    y, a = (column, a) if role == "labels" else (y, column)
    with pytest.raises(ar.errors.RowError):
        learners["aranyani"].predict_then_learn(x, y, a)


@pytest.mark.parametrize("x", [None, 3, "rows.csv", rows()[0], [1, 2, 3], {"x": 1}, (i for i in range(3))],
                         ids=["none", "number", "text", "array", "numbers", "dict", "generator"])
def test_what_is_no_stream_is_refused_by_fit(learners, x):
    with pytest.raises(ar.errors.RowError):
        learners["aranyani"].fit(x, verbose=0)


def test_plain_lists_and_columns_are_rows_like_any_other(learners):
    x, y, a = rows()
    one, other = (ar.Aranyani(num_trees=1, height=2, seed=0) for _ in range(2))
    said = one.predict_then_learn(x.tolist(), y.tolist(), a.tolist())
    np.testing.assert_array_equal(said, other.predict_then_learn(x, y[:, None], a[:, None]))
    one.fit({"features": x.tolist(), "group": a[:, None]}, y[:, None], verbose=0)
    assert one.so_far()["rows"] == 60


def test_labels_of_minus_one_and_one_are_refused_with_the_way_out():
    x, y, a = rows(60)
    for learn in (lambda: ar.Aranyani().fit(ar.Stream(x, 2 * y - 1, a), verbose=0),
                  lambda: ar.Aranyani().predict_then_learn(x, 2 * y - 1, a),
                  lambda: hoeffding_tree().predict_then_learn(x, 2 * y - 1, a)):
        with pytest.raises(ar.errors.RowError, match=r"−1 and 1.*\(labels \+ 1\) // 2"):
            learn()
    model = ar.Aranyani(num_trees=1, height=2)
    model.predict_then_learn(x, np.where(y == 1, 1, -1) * (np.arange(60) > 3), a)  # a 0 among them: −1 is missing
    model.predict_then_learn(x[:2], [1, -1], a[:2])  # two rows tell nothing
    model.predict_then_learn(x, np.where(y == 1, 1, -1), a)  # the model has met label 0: −1 is missing


def test_signs_that_come_in_pieces_are_refused_or_told():
    random = np.random.default_rng(0)
    x = random.normal(size=(12_000, 3)).astype("float32")
    signs, a = 2 * random.integers(0, 2, 12_000) - 1, random.integers(0, 2, 12_000)
    batches = [({"features": x[i : i + 100], "group": a[i : i + 100]}, signs[i : i + 100]) for i in range(0, 400, 100)]
    with pytest.raises(ar.errors.RowError, match="−1 and 1"):
        ar.Aranyani(num_trees=1, height=2).fit(batches, verbose=0)
    model = ar.Aranyani(num_trees=1, height=2)

    def serve():
        for start in range(0, 12_000, 16):  # too few at a time to be sure
            model.predict_then_learn(x[start : start + 16], signs[start : start + 16], a[start : start + 16])

    with pytest.warns(UserWarning, match="none 0"):
        serve()


def test_more_groups_than_the_model_has_are_told_with_the_setting_to_pass():
    x, y, _ = rows()
    with pytest.raises(ar.errors.RowError, match="pass num_groups=9"):
        ar.Aranyani().fit(ar.Stream(x, y, np.arange(30) % 9), verbose=0)
    groups = np.zeros(6000, int)
    groups[100], groups[5000] = 2, 8  # beyond the first chunk
    with pytest.raises(ar.errors.RowError, match=r"row 100.*pass num_groups=9"):
        ar.Aranyani().fit(ar.Stream(np.zeros((6000, 3)), groups // 8, groups), verbose=0)
    with pytest.raises(ar.errors.RowError, match="pass num_labels=3"):
        ar.Aranyani().predict_then_learn(x, np.arange(30) % 3, y)


def test_rows_that_are_held_out_are_checked_too():
    stream, (x, y, a) = ar.Stream(*rows()), rows()
    grove = ar.Grove({"num_trees": 1, "height": 2}, fairness_weights=[0.1], seeds=[0])
    for held_out, word in ((ar.Stream(np.where(x > 1, np.inf, x), y, a), "feature"), (ar.Stream(x, y + 5, a), "label"),
                           (ar.Stream(x[:, :2], y, a), "3 features"), (x, "must be a Stream")):
        with pytest.raises(ar.errors.RowError, match=word):
            grove.fit(stream, held_out=held_out, verbose=0)


def test_learn_stream_shows_no_bad_row_to_a_learner():
    x, y, a = rows()
    x[20, 1] = np.nan

    class Spy:
        seen = 0

        def predict_then_learn(self, x, y, a):
            self.seen += len(x)
            return np.full((len(x), 2), 0.5)

    spy = Spy()
    spy.on_bad_rows = "raise"
    with pytest.raises(ar.errors.RowError, match="row 20"):
        ar.learn_stream(spy, ar.Stream(x, y, a))
    assert spy.seen == 0
    spy.on_bad_rows = "skip"
    with pytest.warns(UserWarning, match="skipped 1 of 30 rows; the first: row 20"):
        ar.learn_stream(spy, ar.Stream(x, y, a))
    assert spy.seen == 29


def test_logits_are_refused_where_probabilities_are_meant():
    predictor = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    for learn in (lambda m: m.predict_then_learn(*rows()), lambda m: m.fit(ar.Stream(*rows()), verbose=0)):
        with pytest.raises(ar.errors.ArgumentError, match="softmax"):
            learn(ar.Aranyani(predictor=keras.models.clone_model(predictor)))
    with pytest.raises(ar.errors.ArgumentError, match="softmax"):
        ar.Grove({"predictor": predictor}, fairness_weights=[0.1], seeds=[0]).fit(ar.Stream(*rows()), verbose=0)
