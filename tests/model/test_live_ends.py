"""A live session's beginning and end, and what else could lose a row or answer from the wrong state."""

import copy
import pickle
import threading

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
from engine_rows import learned, rows, same

SETTINGS = {"num_trees": 1, "height": 2, "seed": 0}


def built(**settings):
    model = ar.Aranyani(**(SETTINGS | settings))
    model.compile()
    model.build_for(4)
    return model


def counted(model):
    return int(model.optimizer.iterations.numpy()), model.so_far()["rows"]


def test_a_session_that_is_entered_again_goes_on_from_the_model_as_it_is():
    model, stream = built(), rows(100)
    with model.live() as live:
        live.learn(*stream)
    model.predict_then_learn(*stream)
    with live:
        live.learn(stream[0][0], stream[1][0], stream[2][0])
    assert counted(model) == (201, 201)


def test_no_row_is_lost_that_was_learned_while_the_session_ended():
    for _ in range(5):
        model, (x, y, a) = built(), rows(200)
        done, go = [], threading.Event()

        def learn(live, done=done, go=go, x=x, y=y, a=a):
            for row in zip(x, y, a, strict=True):
                try:
                    live.learn(*row)
                except ar.errors.InUseError:
                    return
                done.append(1)
                go.set()

        with model.live() as live:
            threads = [threading.Thread(target=learn, args=(live,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            go.wait()
        for thread in threads:
            thread.join()
        assert counted(model) == (len(done), len(done))


class Broken(keras.metrics.Metric):
    def update_state(self, *arguments, **kwargs):
        raise RuntimeError("broken")

    def result(self):
        return 0.0


def test_a_metric_that_raises_does_not_take_what_was_learned_with_it():
    model = ar.Aranyani(**SETTINGS)
    model.compile(weighted_metrics=[Broken()])
    with pytest.raises(RuntimeError, match="broken"), model.live() as live:
        live.learn(*rows(50))
    assert model.optimizer.iterations.numpy() == 50 and model.owner is None


def test_a_session_that_a_callback_left_open_stops_fit():
    model, live = built(), None

    class Opens(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            nonlocal live
            live = model.live().__enter__()

    x, y, a = rows(60)
    with pytest.raises(ar.errors.InUseError):
        model.fit({"features": x, "group": a}, y, verbose=0, callbacks=[Opens()])
    live.__exit__()
    assert counted(model) == (0, 0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
                         ids=["deepcopy", "pickle"])
def test_a_copy_made_during_a_session_is_of_one_moment(copied):
    model = built()
    with model.live() as live:
        live.learn(*rows(100))
        twin = copied(model)
    assert counted(twin) == (100, 100) and same(learned(twin), learned(model))


def test_a_row_of_another_width_is_refused_also_where_somebody_else_built_the_model():
    model = ar.Aranyani(**SETTINGS)
    with model.live() as live:
        model.predict(np.zeros((2, 3), "float32"))
        with pytest.raises(ar.errors.RowError, match="3 features"):
            live.predict(np.zeros(2))
        with pytest.raises(ar.errors.RowError, match="3 features"):
            live.learn(np.zeros(2), 0, 1)
        assert live.predict(np.zeros(3)).shape == (2,)


class Wide(ar.Notion):
    def num_cells(self, num_labels, num_groups):
        return 50


class Lopsided(ar.Notion):
    def contrasts(self, num_labels, num_groups):
        return np.ones((1, 3))


@pytest.mark.parametrize("notion", [Wide(), Lopsided()])
def test_a_notion_whose_shapes_do_not_fit_is_refused_before_compiled_code_reads_them(notion):
    with pytest.raises(ValueError, match="cells"):
        ar.Aranyani(notion=notion, **SETTINGS).predict_then_learn(*rows(10))


class Moody(ar.Notion):
    """Counts nobody until its switch is turned."""

    def __init__(self):
        self.switch = tf.Variable(0.0, trainable=False)

    def conditions(self, labels, outputs, num_labels):
        return tf.ones_like(labels, tf.float32)[:, None] * self.switch


class Shaped(ar.Notion):
    def conditions(self, labels, outputs, num_labels):
        return tf.ones((labels.shape[0], 1))


def test_a_notion_with_state_is_asked_at_every_step():
    notion = Moody()
    model = ar.Aranyani(notion=notion, **SETTINGS)
    model.predict_then_learn(*rows(20))
    notion.switch.assign(1.0)
    model.predict_then_learn(*rows(20))
    assert model.engine == "xla" and model.statistics.cell_count.numpy().sum() == 20
    assert ar.Aranyani(notion=Shaped(), **SETTINGS).engine == "numba"


def test_a_model_with_an_answer_of_its_own_gives_it():
    class Swapped(ar.Aranyani):
        def call(self, inputs, training=False):
            return super().call(inputs, training)[:, ::-1]

    model, (x, _, _) = Swapped(**SETTINGS), rows(5)
    assert model.engine == "xla"
    np.testing.assert_allclose(model.predict(x), np.asarray(model(x)), rtol=1e-6)


def test_live_targets_are_rounded_as_those_of_a_chunk():
    stream = rows(100, num_labels=1)
    targets = stream[1].astype("float64") + 1e6
    one, other = built(num_labels=1), built(num_labels=1)
    one.predict_then_learn(stream[0], targets, stream[2])
    with other.live() as live:
        for x, y, a in zip(stream[0], targets.tolist(), stream[2], strict=True):
            live.learn(x, y, a)
    assert same(learned(one), learned(other))


def test_a_model_that_says_nan_has_no_accuracy():
    model, (x, y, a) = built(), rows(50)
    model.forest.leaf_logits.assign(np.full(model.forest.leaf_logits.shape, np.nan))
    found = model.evaluate({"features": x, "group": a}, y, return_dict=True, verbose=0)
    assert np.isnan(found["accuracy"]) and np.isnan(found["demographic_parity"])


def test_optimizer_settings_that_are_changed_later_count():
    model = built()
    assert model.engine == "numba"
    model.optimizer.clipnorm = 1e-9
    before = model.forest.get_weights()
    model.predict_then_learn(*rows(20))
    assert model.engine == "xla"
    np.testing.assert_allclose(model.forest.get_weights()[0], before[0], atol=1e-2)


def test_norms_of_single_rows_are_one_step_each():
    one, other = (built(samples_per_step=10, record_gradients=True) for _ in range(2))
    stream = rows(30)
    with one.live() as live:
        for row in zip(*stream, strict=True):
            live.learn(*row)
            other.predict_then_learn(*(np.asarray(part)[None] for part in row))
    assert one.gradient_norms["step"].tolist() == list(range(1, 31))
    np.testing.assert_array_equal(one.gradient_norms, other.gradient_norms)


def test_norms_that_are_switched_on_within_a_session_begin_there():
    model, (x, y, a) = built(), rows(30)
    with model.live() as live:
        live.learn(x[:10], y[:10], a[:10])
        model.record_gradients = True
        live.learn(x[10:], y[10:], a[10:])
    assert len(model.gradient_norms) == 20 and model.gradient_norms.notna().all().all()


def test_variables_do_not_share_the_session_s_memory():
    model = built(constraint="output")
    with model.live() as live:
        live.learn(*rows(20))
        live.flush()
        before = [weight.numpy().copy() for weight in model.statistics.weights]
        live.learn(*rows(20, seed=1))
        after = [weight.numpy() for weight in model.statistics.weights]
        assert same(before, after)


def test_predict_on_batch_and_the_rules_of_rows_know_what_the_session_knows():
    model, (x, y, a) = built(), rows(200)
    with model.live() as live:
        for row in zip(x, y, a, strict=True):
            live.learn(*row)
        np.testing.assert_allclose(model.predict_on_batch(x[:3]), live.predict(x[:3]), rtol=1e-5)
        live.learn(x[:150], np.where(y[:150] == 0, -1, 1), a[:150])  # without a 0, but there were some


def test_a_masked_row_is_refused():
    model = built()
    row = np.ma.MaskedArray(np.ones(4), mask=[True, False, False, False])
    with model.live() as live, pytest.raises(ar.errors.RowError):
        live.predict(row)


def test_a_square_that_would_overflow_is_told_in_time():
    model = built(num_labels=1, notion="representation_parity", chance=2.0, scale_target=False)
    with model.live() as live:
        live.learn(np.ones(4), 1.0, 0)
        with pytest.raises(ar.errors.DivergedError):
            live.learn(np.ones(4), 1e12, 0)
        live.learn(np.ones(4), 1.0, 1)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
