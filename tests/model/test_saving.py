"""Files that are whole, parts that belong together, and streams that go on exactly where they stopped."""

import threading
import warnings
import zipfile
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
import forked

SMALL = {"num_trees": 2, "height": 2, "seed": 0}


def rows(n=240, d=3, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)).astype("float32"), random.integers(0, 2, n), random.integers(0, 2, n)


def trained(**settings):
    model = ar.Aranyani(**SMALL | settings)
    model.predict_then_learn(*rows())
    return model


def in_threads(*works):
    """Runs the works at once, and gives what they raised."""
    errors, start = [], threading.Barrier(len(works))

    def run(work):
        try:
            start.wait()
            work()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_what_is_saved_while_others_learn_is_of_one_moment(tmp_path):
    model, (x, y, a) = trained(), rows(64)
    done = threading.Event()

    def learn():
        while not done.is_set():
            model.predict_then_learn(x, y, a)

    def save():
        for index in range(25):
            model.save(tmp_path / f"{index}.keras")
        done.set()

    assert in_threads(learn, learn, save) == []
    for index in range(25):
        loaded = keras.saving.load_model(tmp_path / f"{index}.keras")
        updates, seen = int(loaded.optimizer.iterations.numpy()), loaded.statistics.cell_count.numpy().sum()
        assert updates == seen == loaded.so_far()["rows"]
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".keras"]


def test_a_model_can_be_saved_in_the_middle_of_fit(tmp_path):
    model, stream = trained(), ar.Stream(*rows(4000))
    saved = []

    class Saver(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:  # in another thread, as a service would
                thread = threading.Thread(target=lambda: saved.append(model.save(tmp_path / "mid.keras")))
                thread.start()
                thread.join(timeout=60)

    model.fit(stream.chunks(1000), callbacks=[Saver()], verbose=0)
    assert saved == [None]
    assert keras.saving.load_model(tmp_path / "mid.keras").so_far()["rows"] == 240 + 3000


def test_two_savers_on_one_path_leave_a_file_that_loads(tmp_path):
    models = [trained(seed=seed) for seed in (0, 1)]
    path = tmp_path / "model.keras"
    assert in_threads(*(lambda model=model: [model.save(path) for _ in range(10)] for model in models)) == []
    loaded = keras.saving.load_model(path).get_weights()
    assert any(all(np.array_equal(*pair) for pair in zip(loaded, model.get_weights(), strict=True)) for model in models)


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    model, path = trained(), tmp_path / "model.keras"
    model.save(path)
    before = path.read_bytes()

    def fail(self, store):
        raise OSError("disk full")

    monkeypatch.setattr(type(model.statistics), "save_own_variables", fail)
    model.predict_then_learn(*rows(5))
    with pytest.raises(OSError, match="disk full"):
        model.save(path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_a_kill_while_it_saves_leaves_the_old_file(tmp_path):
    program = ("import sys, os, signal, numpy as np, aranyani_tf as ar\n"
               "model = ar.Aranyani(num_trees=2, height=2, seed=0); model.build((None, 3)); model.compile()\n"
               "model.save(sys.argv[1]); print(os.stat(sys.argv[1]).st_size, flush=True)\n"
               "type(model.statistics).save_own_variables = lambda self, store: os.kill(os.getpid(), signal.SIGKILL)\n"
               "model.save(sys.argv[1])\n")
    path = tmp_path / "model.keras"
    result = forked.python("-c", program, path)
    assert result.returncode == -9 and int(result.stdout) == path.stat().st_size
    keras.saving.load_model(path)


def test_parts_of_two_moments_are_refused(tmp_path):
    """The optimizer of a later file in an earlier one, as a save without turns would leave it."""
    model = trained()
    model.save(tmp_path / "early.keras")
    model.predict_then_learn(*rows(7))
    model.save(tmp_path / "late.keras")
    with zipfile.ZipFile(tmp_path / "early.keras") as early, zipfile.ZipFile(tmp_path / "late.keras") as late:
        members = {name: early.read(name) for name in early.namelist()}
        (tmp_path / "early.h5").write_bytes(members["model.weights.h5"])
        (tmp_path / "late.h5").write_bytes(late.read("model.weights.h5"))
    with h5py.File(tmp_path / "early.h5", "a") as early, h5py.File(tmp_path / "late.h5") as late:
        del early["optimizer"]
        late.copy("optimizer", early)
    members["model.weights.h5"] = (tmp_path / "early.h5").read_bytes()
    with zipfile.ZipFile(tmp_path / "mixed.keras", "w") as mixed:
        for name, content in members.items():
            mixed.writestr(name, content)
    loaded = keras.saving.load_model(tmp_path / "mixed.keras")
    for use in (lambda: loaded.predict_then_learn(*rows(3)), lambda: loaded.predict(rows(3)[0], verbose=0),
                lambda: loaded.save(tmp_path / "again.keras"), lambda: loaded.predict_then_learn(*rows(3))):
        with pytest.raises(ar.errors.DamagedFileError, match="two moments"):
            use()
    # What is good loads, also with weights of one's own or another optimizer put in first.
    good = keras.saving.load_model(tmp_path / "early.keras")
    good.set_weights(model.get_weights())
    good.compile()
    good.predict_then_learn(*rows(3))
    good = keras.saving.load_model(tmp_path / "early.keras")
    good.statistics.reset()
    good.predict_then_learn(*rows(3))
    good.save_weights(tmp_path / "good.weights.h5")
    other = ar.Aranyani(**SMALL)
    other.compile(keras.optimizers.SGD(0.1))
    other.build((None, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras tells that the optimizers differ
        other.load_weights(tmp_path / "good.weights.h5")
    other.predict_then_learn(*rows(3))


def test_whoever_brings_the_rows_may_save_and_predict_meanwhile(tmp_path):
    x, y, a = rows(40)
    model = ar.Aranyani(**SMALL)
    model.build((None, 3))

    class Source:
        def __iter__(self):
            for index in range(3):
                model.save(tmp_path / f"{index}.keras")
                model.predict(x, verbose=0)
                yield {"features": x, "group": a}, y

    thread = threading.Thread(target=lambda: model.fit(Source(), batch_size=40, verbose=0), daemon=True)
    thread.start()
    thread.join(timeout=120)
    assert not thread.is_alive() and model.so_far()["rows"] == 120


def test_a_model_that_was_saved_before_it_was_built_loads(tmp_path):
    ar.Aranyani(**SMALL).save(tmp_path / "model.keras")
    keras.saving.load_model(tmp_path / "model.keras").predict_then_learn(*rows(5))


def test_first_calls_that_come_together_build_one_model():
    x, y, a = rows(16)
    for _ in range(2):
        model = ar.Aranyani(**SMALL)
        learn, predict = (lambda m=model: m.predict_then_learn(x, y, a)), (lambda m=model: m.predict(x, verbose=0))
        call = lambda m=model: m(x)  # noqa: E731
        assert in_threads(learn, predict, call, learn, predict, call, learn, predict) == []
        assert model.so_far()["rows"] == 3 * 16 == int(model.optimizer.iterations.numpy())
        assert np.isfinite(model.predict(x, verbose=0)).all()


def test_metrics_so_far_survive_saving_and_evaluating(tmp_path):
    model = trained()
    before = model.so_far()
    assert before["rows"] == 240 and 0 < before["accuracy"] < 1
    x, y, a = rows(50, seed=1)
    model.evaluate({"features": x, "group": a}, y, verbose=0)
    assert model.so_far() == before
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.so_far() == before
    loaded.predict_then_learn(x, y, a)
    model.predict_then_learn(x, y, a)
    assert loaded.so_far() == model.so_far() and loaded.so_far()["rows"] == 290
    loaded.save(tmp_path / "again.keras")
    again = keras.saving.load_model(tmp_path / "again.keras")
    again.predict_then_learn(x, y, a)
    assert again.so_far()["rows"] == 340


def test_task_loss_goes_on_past_2_to_the_24_rows():
    model = trained()
    model.progress.task_loss.total.assign([0.5 * 2**25, 2.0**25])
    before = model.progress.task_loss.total.numpy()[1]
    model.predict_then_learn(*rows(3))
    assert model.progress.task_loss.total.numpy()[1] == before + 3
    model.task_loss.total.assign([0.5 * 2**25, 2.0**25])
    model.predict_then_learn(*rows(3))
    assert model.task_loss.total.numpy()[1] == 2**25 + 3


class Interrupt(keras.callbacks.Callback):
    def __init__(self, batch):
        super().__init__()
        self.batch = batch

    def on_train_batch_end(self, batch, logs=None):
        if batch == self.batch:
            raise KeyboardInterrupt


@pytest.mark.parametrize("missing", [False, True])
def test_a_restored_backup_learns_no_row_twice(tmp_path, missing):
    x, y, a = rows(240)
    if missing:
        y[::7], a[::5] = -1, -1
    stream = ar.Stream(x, y, a)
    whole, broken, resumed = (ar.Aranyani(**SMALL) for _ in range(3))
    whole.fit(stream.chunks(40), verbose=0)
    backup = {"backup_dir": str(tmp_path / "backup"), "save_freq": 1, "delete_checkpoint": False}
    for model in (broken, resumed):
        model.build((None, 3))
    with pytest.raises(KeyboardInterrupt):
        broken.fit(stream.chunks(40), callbacks=[keras.callbacks.BackupAndRestore(**backup), Interrupt(2)], verbose=0)
    resumed.fit(stream.chunks(40), callbacks=[keras.callbacks.BackupAndRestore(**backup)], verbose=0)
    assert resumed.so_far() == pytest.approx(whole.so_far(), nan_ok=True)
    for one, other in zip(resumed.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    # The stream that comes next is learned from its beginning.
    resumed.fit(stream.chunks(40), verbose=0)
    assert resumed.so_far()["rows"] == 2 * whole.so_far()["rows"]


def test_dropout_goes_on_with_its_own_numbers_after_loading(tmp_path):
    keras.utils.set_random_seed(0)
    encoder = keras.Sequential([keras.layers.Dense(8), keras.layers.Dropout(0.5, seed=3)])
    model = ar.Aranyani(**SMALL, encoder=encoder)
    model.predict_then_learn(*rows(20))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    said = [each.predict_then_learn(*rows(20, seed=1)) for each in (model, loaded)]
    np.testing.assert_array_equal(*said)


def test_a_loaded_model_can_be_exported_at_once(tmp_path):
    trained().save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    loaded.export(tmp_path / "exported", verbose=False)
    x = rows(4)[0]
    served = tf.saved_model.load(str(tmp_path / "exported"))
    np.testing.assert_allclose(served.serve(x), loaded.predict(x, verbose=0), atol=1e-6)


def test_rows_may_be_learned_inside_a_callback_of_fit():
    x, y, a = rows(30)
    y[::3] = -1  # so that the call needs the other compiled function
    model = ar.Aranyani(**SMALL)

    class Learner(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            model.predict_then_learn(x, y, a)

    model.fit(ar.Stream(*rows(120)).chunks(40), callbacks=[Learner()], verbose=0)
    assert model.so_far()["rows"] == 120 + 3 * 30


def test_steps_per_execution_is_refused_since_norms_would_be_lost():
    with pytest.raises(ar.errors.ArgumentError, match="steps_per_execution"):
        ar.Aranyani(**SMALL).compile(steps_per_execution=4)


def test_files_of_the_first_version_can_be_loaded():
    """Made by the first version: a forest, a predictor beside forest settings, and a regression."""
    folder = Path(__file__).parents[1] / "saved"
    for name, rows_seen in (("forest", 40), ("predictor", 40), ("regression", 40)):
        model = keras.saving.load_model(folder / f"first_version_{name}.keras")
        with np.load(folder / f"first_version_{name}.npz") as expected:
            np.testing.assert_allclose(model.predict(expected["x"], verbose=0), expected["said"], atol=1e-6)
        assert model.statistics.cell_count.numpy().sum() == rows_seen
        assert model.so_far()["rows"] == 0  # which that version did not keep


@pytest.mark.parametrize("name", [
    "node", "leaf_odds", "output_predictor", "regression", "encoder", "fermi", "reservoir"])
def test_a_model_saved_by_version_0_1_goes_on_with_its_stream(name):
    """Saved after 30 rows, before the modules were moved; then it was asked 30 more, and what it said was kept."""
    folder = Path(__file__).parents[1] / "saved"
    stream = ar.datasets.load("synthetic", num_rows=60, num_features=4, seed=0)
    labels = stream.labels.astype("float32") * 1000 if name == "regression" else stream.labels
    model = keras.saving.load_model(folder / f"{name}.keras")
    assert model.jit_compile
    model.jit_compile = name == "reservoir"  # all files want it; this one gets it, where the rounding decides a sign
    with np.load(folder / "said_after.npz") as expected:
        said = model.predict_then_learn(stream.features[30:], labels[30:], stream.groups[30:])
        np.testing.assert_allclose(said, expected[name], rtol=1e-5, atol=1e-6)
    assert model.so_far()["rows"] == 60


def test_statistics_of_another_setting_are_refused_and_not_filled_up(tmp_path):
    """Without squares `chance` would have no effect, and nobody would know."""
    plain, careful = ar.Aranyani(**SMALL), ar.Aranyani(**SMALL, chance=2.0)
    for model in (plain, careful):
        model.predict_then_learn(*rows(20))
        model.save_weights(tmp_path / f"{model.chance}.weights.h5")
    with pytest.raises(ValueError, match="statistics"):
        careful.load_weights(tmp_path / "0.0.weights.h5")
    with pytest.raises(ValueError, match="statistics"):
        plain.load_weights(tmp_path / "2.0.weights.h5")
