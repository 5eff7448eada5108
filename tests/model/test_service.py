"""What a service meets: single rows, bad rows, threads, frozen parts, dropout, and everyday Keras calls."""

import threading
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
import forked
from aranyani_tf.baselines.hoeffding import hoeffding_tree
from aranyani_tf.evaluation.learn_stream import learn_stream

SMALL = {"num_trees": 2, "height": 2, "seed": 0}


def rows(n=40, d=3):
    random = np.random.default_rng(0)
    return random.normal(size=(n, d)).astype("float32"), random.integers(0, 2, n), random.integers(0, 2, n)


def weights(model):
    return [w.tobytes() for w in model.get_weights() + [v.numpy() for v in model.optimizer.variables]]


def trained(**settings):
    model = ar.Aranyani(**SMALL | settings)
    model.predict_then_learn(*rows())
    return model


def test_predict_may_be_the_first_call():
    x, y, a = rows()
    first, second = ar.Aranyani(**SMALL), ar.Aranyani(**SMALL)
    first.compile()
    said = first.predict(x, verbose=0)
    np.testing.assert_allclose(second(x), said, rtol=1e-5)  # compiled, so rounded elsewhere
    np.testing.assert_array_equal(first.predict_then_learn(x, y, a), second.predict_then_learn(x, y, a))


@pytest.mark.filterwarnings("ignore:skipped")
def test_a_bad_row_alone_is_skipped_without_an_error_and_teaches_nothing():
    model = trained(on_bad_rows="skip")
    before = weights(model)
    x = rows(1)[0]
    for factor, label, group in ((np.nan, 0, 0), (1, 7, 0), (1, 0, 7), (1, 0.5, 0), (1, 0, np.nan)):
        assert np.isnan(model.predict_then_learn(factor * x, [label], [group])).all()
    assert weights(model) == before


@pytest.mark.filterwarnings("ignore:skipped")
@pytest.mark.parametrize("samples_per_step", [1, 3])
def test_skipping_learns_the_same_in_fit_and_in_calls(samples_per_step):
    x, y, a = rows()
    x[5], y[10], a[20] = np.nan, 7, 7
    called, fitted = (ar.Aranyani(**SMALL, samples_per_step=samples_per_step, on_bad_rows="skip") for _ in range(2))
    called.predict_then_learn(x, y, a)
    fitted.fit({"features": x, "group": a}, y, verbose=0)
    for ours, expected in zip(called.get_weights(), fitted.get_weights(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-7)


def test_whole_numbers_that_do_not_fit_into_32_bits_are_not_wrapped():
    x, y, a = rows()
    stream = ar.Stream(np.full((3, 1), 1_700_000_000_000), [0, 1, 0], [0, 1, 1])
    np.testing.assert_allclose(stream.features, 1.7e12)
    a = a.astype("int64")
    a[17] = 2**32 + 1
    with pytest.raises(ValueError, match="row 17: group is 4294967297"):
        trained().predict_then_learn(x, y, a)
    with pytest.raises(ValueError, match="row 17: group is 4294967297"):
        trained().fit(ar.Stream(x, y, a), verbose=0)


def test_numbers_whose_square_overflows_are_refused():
    x, y, a = rows()
    x[17, 2] = 3.4e38
    with pytest.raises(ValueError, match=r"row 17: feature 2 is 3.*e.38, must be finite, and less than 1e"):
        trained().predict_then_learn(x, y, a)
    y = y.astype("float32")
    y[3] = 1e20
    with pytest.raises(ValueError, match="row 3: label is 1"):
        ar.Aranyani(**SMALL, num_labels=1).predict_then_learn(rows()[0], y, a)


def test_an_error_in_a_later_chunk_tells_what_was_learned():
    x, y, a = rows()
    x[35, 0] = np.nan
    model = ar.Aranyani(**SMALL)
    dataset = tf.data.Dataset.from_tensor_slices(({"features": x, "group": a}, y)).batch(5)
    with pytest.raises(ValueError, match=r"row 35: .*the first 30 rows have been used"):
        model.fit(dataset, batch_size=10, verbose=0)
    assert int(model.statistics.cell_count.numpy().sum()) == 30


def noisy(width, activation):
    return keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5, seed=0),
                             keras.layers.Dense(width, activation)])


@pytest.mark.parametrize(("name", "width", "activation"), [("predictor", 2, "softmax"), ("encoder", 4, "tanh")])
def test_dropout_is_for_learning_and_not_for_answers(name, width, activation):
    forest = SMALL if name == "encoder" else {"seed": 0}
    model = ar.Aranyani(**forest, **{name: noisy(width, activation)})
    x, y, a = rows()
    for row in range(5):
        here = slice(row, row + 1)
        expected = model.predict(x[here], verbose=0)
        np.testing.assert_allclose(model.predict_then_learn(x[here], y[here], a[here]), expected, rtol=1e-5)


def test_a_grove_looks_at_held_out_rows_without_dropout():
    x, y, a = rows(200)
    grove = ar.Grove({"num_trees": 1, "height": 2, "encoder": lambda seed: noisy(4, "tanh")},
                     fairness_weights=[0.1], seeds=[0])
    records = grove.fit(ar.Stream(x, y, a), held_out=ar.Stream(x[:60], y[:60], a[:60]), verbose=0)
    said = grove.model(0.1, 0).predict(x[:60], verbose=0).argmax(axis=1)
    assert records["held_out_accuracy"].iloc[-1] == pytest.approx((said == y[:60]).mean())


def test_an_encoder_can_be_frozen_before_compile():
    model = trained(encoder=keras.layers.Dense(4))
    before = [w.copy() for w in model.encoder.get_weights()]
    model.encoder.trainable = False
    model.compile()
    forest = model.forest.get_weights()
    model.predict_then_learn(*rows())
    for frozen, old in zip(model.encoder.get_weights(), before, strict=True):
        np.testing.assert_array_equal(frozen, old)
    assert not np.array_equal(model.forest.get_weights()[0], forest[0])
    model.forest.trainable = False
    with pytest.raises(ValueError, match="forest cannot be frozen"):
        model.compile()


def test_threads_that_learn_take_turns():
    model = trained()
    x, y, a = rows(1)
    unknown = np.array([-1])  # such rows need another compiled program
    before = int(model.statistics.cell_count.numpy().sum())

    def learn(labels):
        for _ in range(100):
            model.predict_then_learn(x, labels, a)

    threads = [threading.Thread(target=learn, args=(labels,)) for labels in (y, unknown, y)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(model.statistics.cell_count.numpy().sum()) == before + 300


def test_gradient_norms_survive_a_change_of_the_chunk_size():
    x, y, a = rows()
    changing, plain = (ar.Aranyani(**SMALL, record_gradients=True) for _ in range(2))
    for start, stop in ((0, 3), (3, 4), (4, 8), (8, 9)):
        changing.predict_then_learn(x[start:stop], y[start:stop], a[start:stop])
    for start, stop, size in ((9, 20, 4), (20, 32, 8), (32, 40, 4)):
        changing.fit({"features": x[start:stop], "group": a[start:stop]}, y[start:stop], batch_size=size, verbose=0)
    plain.predict_then_learn(x, y, a)
    assert len(changing.gradient_norms) == 40
    np.testing.assert_allclose(changing.gradient_norms, plain.gradient_norms, rtol=1e-3, atol=1e-6)


def test_evaluate_reports_the_penalty_as_it_stands():
    model = trained(penalty="l2", fairness_weight=0.5)
    x, y, a = rows()
    found = model.evaluate({"features": x, "group": a}, y, verbose=0, return_dict=True)
    means = model.statistics.decision_mean.numpy()
    gaps = means[0] - means[1]
    assert found["fairness_penalty"] == pytest.approx(0.5 * (gaps**2 / 2).sum(), rel=1e-4)
    assert found["loss"] == pytest.approx(found["task_loss"] + found["fairness_penalty"], rel=1e-5)


def test_the_opportunity_that_is_reported_is_the_one_that_is_constrained():
    x, y, a = rows(200)
    model = ar.Aranyani(**SMALL, notion=ar.EqualOpportunity(positive_label=0))
    said = model.predict_then_learn(x, y, a).argmax(axis=1)
    rates = [(said[(y == 0) & (a == group)] == 0).mean() for group in (0, 1)]
    assert float(model.get_metrics_result()["equal_opportunity"]) == pytest.approx(abs(rates[0] - rates[1]), abs=1e-6)


@pytest.mark.filterwarnings("ignore:skipped")
def test_records_leave_skipped_rows_out_and_keep_whole_steps():
    x, y, a = rows(400)
    spoilt = x.copy(), y + 0.0, a.copy()
    spoilt[0][::4], spoilt[1][1::4], spoilt[2][2::4] = np.nan, 7, 7
    model, same = (ar.Aranyani(**SMALL, samples_per_step=3, on_bad_rows="skip") for _ in range(2))
    found = learn_stream(model, ar.Stream(*spoilt), chunk_size=400).iloc[-1]
    said, good = same.predict_then_learn(*spoilt).argmax(axis=1), np.arange(400) % 4 == 3
    assert found["accuracy"] == pytest.approx((said == y)[good].mean())
    rates = [said[good & (a == group)].mean() for group in (0, 1)]
    assert found["demographic_parity"] == pytest.approx(abs(rates[0] - rates[1]))
    pieces = learn_stream(ar.Aranyani(**SMALL, samples_per_step=3), ar.Stream(x, y, a), chunk_size=100)
    whole = learn_stream(ar.Aranyani(**SMALL, samples_per_step=3), ar.Stream(x, y, a), chunk_size=400)
    np.testing.assert_allclose(pieces, whole, rtol=1e-5, atol=1e-6)


def test_records_do_not_hide_labels_that_a_learner_lacks_nor_one_that_diverged():
    x, y, a = rows()
    three = ar.Stream(x, np.where(np.arange(40) == 17, 2, y), a)
    with pytest.raises(ValueError, match="row 17: label is 2"):
        learn_stream(hoeffding_tree(), three)
    diverged = SimpleNamespace(predict_then_learn=lambda x, y, a: np.full((len(x), 2), np.nan))
    with pytest.raises(ValueError, match="row 0: the learner said NaN"):
        learn_stream(diverged, ar.Stream(x, y, a))


def test_everyday_keras_calls_that_make_no_sense_here_say_what_does():
    x, y, a = rows()
    model, batch = ar.Aranyani(**SMALL), ({"features": x, "group": a}, y)
    with pytest.raises(NotImplementedError, match="predict_then_learn"):
        model.train_on_batch(*batch)
    with pytest.raises(NotImplementedError, match="evaluate"):
        model.test_on_batch(*batch)
    with pytest.raises(ValueError, match="class_weight has no meaning"):
        model.fit(*batch, class_weight={0: 1.0, 1: 2.0}, verbose=0)
    with pytest.raises(ValueError, match="batched first"):
        model.fit(tf.data.Dataset.from_tensor_slices(batch), verbose=0)
    with pytest.raises(ValueError, match="an iterator gives its rows once"):
        model.fit(iter([batch]), epochs=2, verbose=0)
    model.fit(*batch, shuffle=False, validation_split=0.0, verbose=0)


@pytest.mark.parametrize(("settings", "named"), [
    ({"online": False}, "samples_per_step"),
    ({"notion": ar.EqualOpportunity(positive_label=5)}, "positive_label must be .* from 0 to 1, got 5"),
    ({"dtype": "mixed_float16"}, "mixed precision"),
    ({"predictor": keras.layers.Dense(1, "sigmoid")}, r"predictor must give float32 of shape \(rows, 2\)"),
    ({"encoder": keras.layers.Dense(4, dtype="float64")}, "encoder must give float32")],
    ids=["one sample offline", "no such label", "mixed precision", "narrow predictor", "double encoder"])
def test_settings_that_would_do_nothing_or_break_later_are_refused(settings, named):
    with pytest.raises(ValueError, match=named):
        ar.Aranyani(**settings).predict_then_learn(*rows())


def test_an_averaging_optimizer_is_refused():
    with pytest.raises(ValueError, match="use_ema"):
        ar.Aranyani().compile(keras.optimizers.Adam(use_ema=True))


def test_a_saved_baseline_is_loaded_with_nothing_but_the_package_imported(tmp_path):
    from aranyani_tf.baselines.fermi import Fermi

    model = Fermi(**SMALL)
    model.predict_then_learn(*rows())
    model.save(tmp_path / "fermi.keras")
    program = f"import aranyani_tf, keras; keras.saving.load_model({str(tmp_path / 'fermi.keras')!r})"
    done = forked.python("-c", program)
    assert done.returncode == 0, done.stderr
