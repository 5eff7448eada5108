"""A live session: row by row, with the model as it stands at any time, and nobody else's hands in it."""

import tempfile
import threading

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import aranyani_tf as ar
from engine_rows import SMALL, learned, pieces, rows, same


def trained(num_rows=20, **settings):
    model = ar.Aranyani(**SMALL | settings)
    model.predict_then_learn(*rows(num_rows, num_labels=settings.get("num_labels", 2)))
    return model


def twins(**settings):
    return trained(**settings), trained(**settings)


def predictor():
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(2, "softmax")])


# What a row may be.

def test_one_row_gives_one_answer_and_some_give_some():
    model, expected = twins()
    x, y, a = rows(6, seed=1)
    said = expected.predict_then_learn(x, y, a)
    with model.live() as live:
        assert [live.predict(some).shape for some in (x[0], x, x[:1])] == [(2,), (6, 2), (1, 2)]
        np.testing.assert_array_equal(live.predict(x[0]), said[0])
        first = live.predict_then_learn(x[0], y[0], a[0])
        assert first.shape == (2,)
        rest = live.predict_then_learn(x[1:], y[1:], a[1:])
    np.testing.assert_array_equal(np.vstack([first, rest]), said)
    assert same(learned(model), learned(expected))


@pytest.mark.parametrize("form", [
    lambda x, y, a: (x.tolist(), int(y), int(a)), lambda x, y, a: (x.astype("float64"), y, a),
    lambda x, y, a: (tuple(x.tolist()), np.int8(y), np.int64(a)), lambda x, y, a: (pd.Series(x, list("abcd")), y, a),
    lambda x, y, a: (x, np.array(y), np.array(a)), lambda x, y, a: (x, float(y), float(a)),
    lambda x, y, a: (x[::-1].copy()[::-1], bool(y), bool(a)), lambda x, y, a: (x.tolist(), [int(y)][0], a)],
    ids=["lists", "float64", "tuple and small numbers", "pandas", "arrays of one", "floats", "backwards", "codes"])
def test_a_row_may_come_in_any_form(form):
    model, expected = twins()
    stream = rows(10, seed=1)
    said = expected.predict_then_learn(*stream)
    with model.live() as live:
        found = [live.predict_then_learn(*form(*row)) for row in zip(*stream, strict=True)]
        np.testing.assert_array_equal(live.predict(form(stream[0][0], 0, 0)[0]), live.predict(stream[0][:1])[0])
    np.testing.assert_array_equal(found, said)
    assert same(learned(model), learned(expected))


def test_rows_of_a_data_frame_come_as_they_are():
    model, expected = twins()
    x, y, a = rows(10, seed=1)
    columns = list("wxyz")
    frame = pd.DataFrame(x, columns=columns).assign(label=y, group=a)
    said = expected.predict_then_learn(x, y, a)
    with model.live() as live:
        one = [live.predict_then_learn(row[columns], row["label"], row["group"]) for _, row in frame[:5].iterrows()]
        some = live.predict_then_learn(frame[columns][5:], frame["label"][5:], frame["group"][5:])
    np.testing.assert_array_equal(np.vstack([*one, some]), said)


def test_whole_numbers_are_features_too():
    model, expected = twins()
    x = np.arange(4)
    with model.live() as live:
        np.testing.assert_array_equal(live.predict(x), expected.predict(x[None])[0])
        np.testing.assert_array_equal(live.predict(x > 1), expected.predict((x > 1)[None])[0])


def test_answers_are_the_caller_s_own():
    model, stream = trained(), rows(3, seed=1)
    with model.live() as live:
        first = live.predict_then_learn(stream[0][0], 1, 0)
        kept = first.copy()
        live.predict_then_learn(stream[0][1], 0, 1)
        live.predict(stream[0][2])[:] = 7
        np.testing.assert_array_equal(first, kept)
        row = stream[0][0].copy()
        live.learn(row, 1, 0)
        np.testing.assert_array_equal(row, stream[0][0])


@pytest.mark.parametrize("first", ["one", "some", "predict one", "predict some"])
def test_a_model_that_is_not_built_is_built_for_the_first_row(first):
    model, expected = ar.Aranyani(**SMALL), ar.Aranyani(**SMALL)
    x, y, a = rows(8)
    with model.live() as live:
        assert not model.built
        if first.startswith("predict"):
            live.predict(x[0] if first.endswith("one") else x)
        cut = 1 if first.endswith("one") else 3
        said = [live.predict_then_learn(x[0], y[0], a[0])[None] if cut == 1 else
                live.predict_then_learn(x[:3], y[:3], a[:3])]
        said += [live.predict_then_learn(x[cut:], y[cut:], a[cut:])]
        assert model.num_features == 4
    np.testing.assert_array_equal(np.concatenate(said), expected.predict_then_learn(x, y, a))
    assert same(learned(model), learned(expected))


def test_a_session_without_a_row_changes_nothing():
    model = trained()
    before = learned(model)
    with model.live():
        pass
    assert same(before, learned(model)) and model.so_far()["rows"] == 20
    unbuilt = ar.Aranyani(**SMALL)
    with unbuilt.live():
        pass
    assert not unbuilt.built
    unbuilt.predict_then_learn(*rows())


# Bad rows.

NAN = [1.0, np.nan, 3.0, 4.0]
BAD = {
    "too few": ([1.0, 2.0, 3.0], 0, 0, "takes 4 features, the rows have 3"),
    "too many": (np.ones(5), 0, 0, "takes 4 features, the rows have 5"),
    "nan": (NAN, 0, 0, "feature 1 is nan"), "infinite": ([np.inf, 2.0, 3.0, 4.0], 0, 0, "feature 0 is inf"),
    "huge": ([1.0, 2.0, 3.0, 1e18], 0, 0, "feature 3 is "), "strings": (["a", "b", "c", "d"], 0, 0, "features must be"),
    "overflowing": (np.full(4, 1e300), 0, 0, "feature 0 is inf"), "empty": ([], 0, 0, "features"),
    "label": (np.ones(4), 2, 0, "label is 2"), "negative label": (np.ones(4), -2, 0, "label is -2"),
    "fraction": (np.ones(4), 0.5, 0, "label is 0.5"), "nan label": (np.ones(4), np.nan, 0, "label is nan"),
    "group": (np.ones(4), 0, 2, "group is 2"), "nan group": (np.ones(4), 0, np.nan, "group is nan"),
    "string label": (np.ones(4), "yes", 0, "labels must be numbers"),
    "string group": (np.ones(4), 0, "f", "groups must be numbers"),
    "no label": (np.ones(4), None, 0, "labels must be numbers"),
    "two labels": (np.ones(4), [0, 1], 0, "labels must have shape"),
    "three axes": (np.ones((1, 1, 4)), [0], [0], "features must be")}


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize(("x", "y", "a", "told"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_by_name_and_nothing_is_learned(x, y, a, told):
    model = trained()
    before, so_far = learned(model), model.so_far()
    with model.live() as live:
        with pytest.raises(ar.errors.RowError, match=told):
            live.predict_then_learn(x, y, a)
        if "feature" in told:
            with pytest.raises(ar.errors.RowError, match=told):
                live.predict(x)
        assert same(before, learned(model)) and model.so_far() == so_far
        live.learn(np.ones(4), 1, 0)
    assert model.so_far()["rows"] == 21


@pytest.mark.parametrize("what", ["nan", "label", "group"])
def test_a_bad_row_among_some_is_refused_with_all_of_them(what):
    model = trained()
    before = learned(model)
    x, y, a = rows(5, seed=1)
    if what == "nan":
        x[3, 1] = np.nan
    elif what == "label":
        y[3] = 9
    else:
        a[3] = 9
    with model.live() as live:
        with pytest.raises(ar.errors.RowError, match="row 3: "):
            live.learn(x, y, a)
        assert same(before, learned(model))


def test_a_bad_first_row_leaves_a_session_that_can_go_on():
    model = ar.Aranyani(**SMALL)
    with model.live() as live:
        with pytest.raises(ar.errors.RowError):
            live.learn(NAN, 0, 0)
        live.learn(np.ones(4), 0, 0)
        assert model.so_far()["rows"] == 1


@pytest.mark.parametrize("x", [5.0, "row", [], np.ones((1, 1, 4))], ids=["a number", "a string", "empty", "three axes"])
@pytest.mark.parametrize("learns", [True, False], ids=["learn", "predict"])
def test_what_is_no_row_at_all_does_not_build_a_model(x, learns):
    model = ar.Aranyani(**SMALL)
    with model.live() as live:
        with pytest.raises(ar.errors.RowError):
            live.learn(x, 0, 0) if learns else live.predict(x)
        assert not model.built
        live.learn(np.ones(4), 0, 0)


def test_skipping_says_nan_and_learns_the_others():
    model, expected = twins(on_bad_rows="skip")
    x, y, a = rows(6, seed=1)
    x[2, 0], good = np.nan, [0, 1, 3, 4, 5]
    with model.live() as live:
        assert np.isnan(live.predict_then_learn(NAN, 0, 0)).all() and np.isnan(live.predict(NAN)).all()
        assert np.isnan(live.predict_then_learn(np.ones(4), 7, 0)).all()
        assert np.isnan(live.predict_then_learn(np.ones(4), 0, 7)).all()
        answers = live.predict(x)
        np.testing.assert_array_equal(np.isnan(answers).any(axis=1), np.arange(6) == 2)
        said = live.predict_then_learn(x, y, a)
    np.testing.assert_array_equal(said[good], expected.predict_then_learn(x[good], y[good], a[good]))
    assert np.isnan(said[2]).all() and same(learned(model), learned(expected))


@pytest.mark.parametrize("num_labels", [2, 1])
def test_labels_and_groups_may_be_missing(num_labels):
    settings = {"num_labels": num_labels, "fairness_weight": 2.0}
    model, expected = twins(**settings)
    stream = rows(40, num_labels=num_labels, missing=0.4, seed=1)
    said = expected.predict_then_learn(*stream)
    with model.live() as live:
        found = [live.predict_then_learn(*row) for row in zip(*stream, strict=True)]
    np.testing.assert_array_equal(found, said)
    assert same(learned(model), learned(expected))
    assert model.so_far()["rows"] == expected.so_far()["rows"] < 60


# Who sees what, and when.

@pytest.mark.parametrize("num_labels", [2, 1])
def test_whatever_reads_the_model_meanwhile_sees_the_session_s_state(tmp_path, num_labels):
    settings = {"num_labels": num_labels}
    model, expected = twins(**settings)
    stream, probe = rows(60, num_labels=num_labels, seed=1), rows(9, num_labels=num_labels, seed=2)
    looks = {
        "weights": lambda m: m.get_weights(), "predict": lambda m: [m.predict(probe[0], verbose=0)],
        "call": lambda m: [np.asarray(m(probe[0]))],
        "evaluate": lambda m: list(m.evaluate({"features": probe[0], "group": probe[2]}, probe[1], verbose=0,
                                              return_dict=True).values()),
        "so far": lambda m: [m.so_far()["rows"], m.so_far()["task_loss"]],
        "save": lambda m: saved(m, tmp_path / "m.keras"),
        "save weights": lambda m: [m.save_weights(tmp_path / "m.weights.h5"), loaded_weights(tmp_path, settings)][1]}
    with model.live() as live:
        for piece, (name, look) in zip(pieces(stream, 7), looks.items(), strict=False):
            for row in zip(*piece, strict=True):
                live.learn(*row)
            expected.predict_then_learn(*piece)
            for ours, theirs in zip(look(model), look(expected), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7, err_msg=name)
        np.testing.assert_allclose(live.predict(probe[0]), model.predict(probe[0]), rtol=1e-6)
    assert same(learned(model), learned(expected))


@pytest.mark.parametrize("look", [lambda model, x: model.predict(x, batch_size=3, verbose=0),
                                  lambda model, x: tf.function(lambda rows: model(rows))(tf.constant(x)),
                                  lambda model, x: exported(model, x)], ids=["Keras's predict", "a graph", "export"])
def test_programs_of_tensorflow_see_the_session_s_state_too(look):
    model, expected = twins()
    stream, (probe, _, _) = rows(30, seed=1), rows(9, seed=2)
    with model.live() as live:
        live.learn(*stream)
        expected.predict_then_learn(*stream)
        np.testing.assert_allclose(look(model, probe), expected.predict(probe), rtol=1e-5)
        live.learn(*stream)
    expected.predict_then_learn(*stream)
    assert same(learned(model), learned(expected))


def exported(model, x):
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        loaded = tf.saved_model.load(folder)
        return loaded.serve(x)


def saved(model, path):
    model.save(path)
    return learned(keras.saving.load_model(path))


def loaded_weights(folder, settings):
    model = ar.Aranyani(**SMALL | settings)
    model.compile()
    model.build_for(4)
    model.load_weights(folder / "m.weights.h5")
    return learned(model)


def test_flush_writes_into_the_variables_and_not_before():
    model, expected = twins()
    stream = rows(30, seed=1)
    with model.live() as live:
        before = [weight.numpy().copy() for weight in model.forest.weights]
        live.learn(*stream)
        assert same(before, [weight.numpy() for weight in model.forest.weights])  # the session's business so far
        live.flush()
        expected.predict_then_learn(*stream)
        assert same([weight.numpy() for weight in model.weights], expected.get_weights())
        assert same([v.numpy() for v in model.optimizer.variables], [v.numpy() for v in expected.optimizer.variables])


def test_metrics_go_on_past_what_is_held_back():
    model, expected = twins()
    stream = rows(2500, seed=1)
    with model.live() as live:
        for row in zip(*stream, strict=True):
            live.learn(*row)
        assert int(model.progress.num_rows.numpy()) >= 2048  # without being asked
        expected.predict_then_learn(*stream)
        assert model.so_far() == pytest.approx(expected.so_far(), rel=1e-5)
    assert model.so_far()["rows"] == 2520


def changes(model):
    stream = rows(5)
    x, y, a = stream
    return {"fit": lambda: model.fit({"features": x, "group": a}, y, verbose=0),
            "predict_then_learn": lambda: model.predict_then_learn(*stream),
            "load_weights": lambda: model.load_weights("nowhere.weights.h5"),
            "set_weights": lambda: model.set_weights(model.get_weights()), "compile": lambda: model.compile(),
            "a second session": lambda: model.live().__enter__()}


@pytest.mark.parametrize("what", changes(None))
def test_what_would_change_the_model_raises_until_the_session_ends(what):
    model, expected = twins()
    stream = rows(10, seed=1)
    with model.live() as live:
        live.learn(*stream)
        with pytest.raises(ar.errors.InUseError, match="live session"):
            changes(model)[what]()
        live.learn(*stream)
    expected.predict_then_learn(*stream)
    expected.predict_then_learn(*stream)
    assert same(learned(model), learned(expected))
    model.predict_then_learn(*stream)  # nobody owns it any more


@pytest.mark.parametrize("what", sorted({*changes(None)} - {"load_weights", "set_weights"}))
def test_a_session_owns_a_model_also_before_its_first_row(what):
    """The model is not built yet, so that there are no weights to set; two sessions would each learn by themselves."""
    model = ar.Aranyani(**SMALL)
    with model.live() as live:
        with pytest.raises(ar.errors.InUseError):
            changes(model)[what]()
        live.learn(*rows(5))
    assert model.so_far()["rows"] == 5


def test_another_session_may_follow():
    model, expected = twins()
    stream = rows(30, seed=1)
    for piece in pieces(stream, 10):
        with model.live() as live:
            live.learn(*piece)
    expected.predict_then_learn(*stream)
    assert same(learned(model), learned(expected))


def test_an_error_inside_the_block_loses_nothing():
    model, expected = twins()
    stream = rows(10, seed=1)
    with pytest.raises(KeyError, match="mine"):
        learn_then_fail(model, stream)
    expected.predict_then_learn(*stream)
    assert same(learned(model), learned(expected)) and model.so_far()["rows"] == 30
    model.predict_then_learn(*stream)


def learn_then_fail(model, stream):
    with model.live() as live:
        live.learn(*stream)
        raise KeyError("mine")


def learn_one_by_one(live, stream):
    for row in zip(*stream, strict=True):
        live.learn(*row)


def test_a_session_that_is_over_or_not_begun_cannot_be_used():
    model, (x, y, a) = trained(), rows(5)
    with model.live() as over:
        over.learn(x, y, a)
    for session in (model.live(), over):
        for use, *row in ((session.predict, x[0]), (session.predict, x), (session.learn, x, y, a),
                          (session.predict_then_learn, x[0], y[0], a[0])):
            with pytest.raises(ar.errors.InUseError, match="not open"):
                use(*row)
    assert model.so_far()["rows"] == 25


# What a session does.

def test_lambda_may_be_changed_at_any_row_and_counts_at_once():
    model, expected = twins(fairness_weight=0.0)
    stream = rows(60, seed=1)
    with model.live() as live:
        for number, row in enumerate(zip(*stream, strict=True)):
            if number in (20, 40):
                model.fairness_weight = 50.0 if number == 20 else 1.0
            live.learn(*row)
    for piece, weight in zip(pieces(stream, 20), (0.0, 50.0, 1.0), strict=True):
        expected.fairness_weight = weight
        expected.predict_then_learn(*piece)
    assert same(learned(model), learned(expected))
    plain = trained(fairness_weight=0.0)
    plain.predict_then_learn(*stream)
    assert not same(learned(plain), learned(expected))


def test_a_learning_rate_counts_from_the_next_flush_on():
    model, expected = twins()
    stream = rows(20, seed=1)
    with model.live() as live:
        live.learn(*(array[:10] for array in stream))
        model.optimizer.learning_rate = 0.05
        live.flush()
        live.learn(*(array[10:] for array in stream))
    expected.predict_then_learn(*(array[:10] for array in stream))
    expected.optimizer.learning_rate = 0.05
    expected.predict_then_learn(*(array[10:] for array in stream))
    assert same(learned(model), learned(expected))


def models_that_can_diverge(**settings):
    """A first feature without weight, which leaves nodes undecided however large it is; then its gradient is large."""
    for _ in range(2):
        model = ar.Aranyani(**SMALL | settings, fairness_weight=1e6, penalty=ar.Huber(linear_slope=1.0))
        model.compile()
        model.build_for(4)
        kernel, *others = model.forest.get_weights()
        kernel[:, 0] = 0
        model.forest.set_weights([kernel, *others])
        yield model


@pytest.mark.parametrize("settings", [{}, {"num_labels": 1}, {"num_labels": 1, "scale_target": False}],
                         ids=["labels", "scaled target", "target"])
@pytest.mark.parametrize("at_once", [True, False], ids=["some", "one by one"])
def test_a_row_that_diverges_is_told_and_leaves_the_last_good_state(at_once, settings):
    model, expected = models_that_can_diverge(**settings)
    x, y, a = rows(30, num_labels=settings.get("num_labels", 2))
    x[:, 0] = 0
    spoilt = x.copy()
    spoilt[17:, 0] = 9e17
    with model.live() as live:
        learn = live.learn if at_once else lambda *stream: learn_one_by_one(live, stream)
        with pytest.raises(ar.errors.DivergedError, match="row 17 of these rows" if at_once else "this row"):
            learn(spoilt, y, a)
        assert model.so_far()["rows"] == 17
        expected.predict_then_learn(x[:17], y[:17], a[:17])
        assert same(learned(model), learned(expected))
        live.learn(x[17:], y[17:], a[17:])  # and goes on
    expected.predict_then_learn(x[17:], y[17:], a[17:])
    assert same(learned(model), learned(expected))
    assert model.so_far() == pytest.approx(expected.so_far(), rel=1e-5)


def test_a_huge_learning_rate_is_told_as_divergence_and_leaves_numbers():
    model = ar.Aranyani(**SMALL, num_labels=1, scale_target=False)
    model.compile(keras.optimizers.SGD(1e25))
    with model.live() as live, pytest.raises(ar.errors.DivergedError, match="learning rate"):
        learn_one_by_one(live, rows(40, num_labels=1))
    assert all(np.isfinite(array).all() for array in learned(model))
    assert model.so_far()["rows"] < 40


def test_a_lambda_that_overflows_is_told_and_one_that_does_not_is_learned():
    model, stream = trained(penalty=ar.Huber(linear_slope=1.0)), rows(40, seed=1)
    with model.live() as live:
        model.fairness_weight = 1e30
        with pytest.raises(ar.errors.DivergedError):
            live.learn(*stream)
        model.fairness_weight = 1e16  # large enough to be looked at closely
        rest = tuple(array[int(model.so_far()["rows"]) - 20 :] for array in stream)
        live.learn(*rest)
    assert all(np.isfinite(array).all() for array in learned(model)) and model.so_far()["rows"] == 60


@pytest.mark.parametrize("samples_per_step", [1, 3])
def test_norms_of_gradients_are_those_of_predict_then_learn(samples_per_step):
    settings = {"record_gradients": True, "fairness_weight": 5.0, "samples_per_step": samples_per_step}
    model, expected = twins(**settings)
    stream = rows(31, seed=1)
    with model.live() as live:
        for piece in pieces(stream, samples_per_step):
            live.learn(*piece)
        assert len(model.gradient_norms) == len(expected.gradient_norms) + -(-31 // samples_per_step)
    for piece in pieces(stream, samples_per_step):
        expected.predict_then_learn(*piece)
    pd.testing.assert_frame_equal(model.gradient_norms, expected.gradient_norms)
    assert (model.gradient_norms.iloc[-5:] > 0).any(axis=None)


def test_norms_are_kept_also_of_the_rows_before_a_divergence():
    model, _ = models_that_can_diverge(record_gradients=True)
    x, y, a = rows(30)
    x[:, 0] = 0
    x[17:, 0] = 9e17
    with model.live() as live, pytest.raises(ar.errors.DivergedError):
        live.learn(x, y, a)
    assert len(model.gradient_norms) == model.so_far()["rows"] == 17


@pytest.mark.parametrize("settings", [{"routing": "mask"}, {"encoder": True}, {"predictor": True}],
                         ids=["mask", "encoder", "predictor"])
def test_a_model_that_the_engine_cannot_take_lives_too(settings):
    def make():
        keras.utils.set_random_seed(0)
        made = {"encoder": keras.layers.Dense(3)} if "encoder" in settings else settings
        return ar.Aranyani(predictor=predictor(), seed=0) if "predictor" in settings else ar.Aranyani(**SMALL, **made)

    model, expected = make(), make()
    x, y, a = rows(12)
    with model.live() as live:
        said = [live.predict_then_learn(*row) for row in zip(x[:4], y[:4], a[:4], strict=True)]
        said = np.vstack([*said, live.predict_then_learn(x[4:], y[4:], a[4:])])
        np.testing.assert_allclose(live.predict(x[0]), model.predict(x[:1])[0], rtol=1e-6)
        assert live.predict(x).shape == (12, 2)
        live.flush()
    assert model.engine == "xla"
    np.testing.assert_allclose(said, expected.predict_then_learn(x, y, a), rtol=1e-5, atol=1e-6)
    assert model.so_far()["rows"] == 12


# Threads.

def test_threads_that_predict_while_one_learns_see_states_between_rows():
    x, y, a = rows(300, seed=1)
    probe = rows(1, seed=2)[0][0]
    sequential, shared = twins()
    with sequential.live() as live:
        possible = {live.predict(probe).tobytes()}
        for row in zip(x, y, a, strict=True):
            live.learn(*row)
            possible.add(live.predict(probe).tobytes())
    seen, problems, done = [], [], threading.Event()

    def ask():
        try:
            while not done.is_set():
                seen.append(live.predict(probe).tobytes())
        except BaseException as problem:
            problems.append(problem)

    with shared.live() as live:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for row in zip(x, y, a, strict=True):
            live.learn(*row)
        done.set()
        for thread in threads:
            thread.join()
    assert not problems and len(seen) >= 4 and set(seen) <= possible
    assert len(possible) == 301 and same(learned(shared), learned(sequential))


def test_threads_that_learn_at_once_lose_no_row():
    model, stream, problems = trained(), rows(50, seed=1), []

    def learn():
        try:
            learn_one_by_one(live, stream)
        except BaseException as problem:
            problems.append(problem)

    with model.live() as live:
        threads = [threading.Thread(target=learn) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not problems and model.so_far()["rows"] == 220
    assert int(model.optimizer.iterations.numpy()) == 220 and int(model.statistics.cell_count.numpy().sum()) == 220


def test_what_is_saved_while_others_learn_is_of_one_moment(tmp_path):
    """A row comes in the middle of saving, between the model's own numbers and those of its parts."""
    model, (x, y, a) = trained(), rows(50, seed=1)
    own = model.save_own_variables
    with model.live() as live:
        live.learn(x[:10], y[:10], a[:10])

        def save_then_learn(store):
            own(store)
            live.learn(x[10], y[10], a[10])

        model.save_own_variables = save_then_learn
        model.save(tmp_path / "model.keras")
    assert model.so_far()["rows"] == 31
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    rows_of = {"metrics": loaded.so_far()["rows"], "optimizer": int(loaded.optimizer.iterations.numpy()),
               "cells": int(loaded.statistics.cell_count.numpy().sum())}
    assert rows_of == {"metrics": 30, "optimizer": 30, "cells": 30}
    loaded.predict(x)


class Watched:
    """A writer's turn that notes whether who has to wait for it holds the model's state."""

    def __init__(self, model, writing):
        self.model, self.writing, self.held = model, writing, []

    def __enter__(self):
        waits = self.writing.turns.writer != threading.get_ident()  # or it is the thread's already
        self.held.append(waits and self.model.state._is_owned())
        return self.writing.__enter__()

    def __exit__(self, *problem):
        return self.writing.__exit__(*problem)


@pytest.mark.parametrize("how", ["save", "save_weights", "so_far", "predict", "evaluate"])
def test_who_holds_the_model_never_waits_for_the_session(tmp_path, how):
    """Who learns holds the session while rows are added to the metrics, and waits for the model: each for the other."""
    model, (x, y, a) = trained(), rows(20, seed=1)
    with model.live() as live:
        live.learn(x, y, a)
        live.session.turns.writing = watched = Watched(model, live.session.turns.writing)
        {"save": lambda: model.save(tmp_path / "model.keras"), "so_far": model.so_far,
         "save_weights": lambda: model.save_weights(tmp_path / "model.weights.h5"),
         "predict": lambda: model.predict(x),
         "evaluate": lambda: model.evaluate({"features": x, "group": a}, y, verbose=0)}[how]()
        assert watched.held and not any(watched.held)
