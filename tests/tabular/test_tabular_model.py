"""A model and the form of its table in one: names in and out, frames and dicts alike, one file for both."""

import json
import sys
import threading
import warnings
import zipfile

import keras
import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
import forked
from aranyani_tf.errors import ArgumentError, DamagedFileError, InUseError, TableError
from aranyani_tf.streams.table_options import WAYS

SMALL = {"num_trees": 2, "height": 2, "seed": 0}


def people(num_rows=240, seed=0):
    random = np.random.default_rng(seed)
    sex = random.choice(["f", "m"], num_rows)
    age = random.integers(18, 70, num_rows)
    city = random.choice(["Pune", "Lima", "Bonn"], num_rows)
    score = (age - 45) / 15 + (city == "Lima") + (sex == "m") + random.normal(size=num_rows)
    return pd.DataFrame({"age": age, "city": city, "sex": sex, "hired": np.where(score > 0.8, "yes", "no"),
                         "pay": (1000 * score).round(2)})


FIRST, LATER = people(), people(60, seed=1)
NEW = people(9, seed=2).assign(city=["Rome", *["Pune"] * 8])


def tabular(preprocessing="one_hot", model=None, **options):
    options = {"label": "hired", "exclude": ["pay"], **options}
    stream = ar.Stream.from_dataframe(FIRST, group="sex", preprocessing=preprocessing, **options)
    settings = SMALL | {"num_labels": stream.num_labels, "num_groups": stream.num_groups} | (model or {})
    made = ar.TabularModel(ar.Aranyani(**settings), stream.form)
    made.fit(stream, verbose=0)
    return made


def weights(made):
    return [*made.model.get_weights(), *(value.numpy() for value in made.model.optimizer.variables)]


def assert_same_state(one, other, same_cut=True):
    """To the last bit; sums of the metrics depend on how rows were cut, by rounding in float64."""
    for left, right in zip(weights(one), weights(other), strict=True):
        np.testing.assert_array_equal(left, right)
    assert one.so_far() == (other.so_far() if same_cut else pytest.approx(other.so_far(), rel=1e-12, nan_ok=True))
    assert one.form.to_json() == other.form.to_json()


@pytest.mark.parametrize("preprocessing", WAYS)
def test_it_is_the_model_on_the_stream_s_own_features(preprocessing):
    made = tabular(preprocessing)
    stream = ar.Stream.from_dataframe(FIRST, label="hired", group="sex", exclude="pay", preprocessing=preprocessing)
    plain = ar.Aranyani(**SMALL)
    plain.fit(stream, verbose=0)
    for left, right in zip(made.model.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(left, right)
    assert made.so_far() == plain.so_far() and made.so_far()["rows"] == 240
    if preprocessing == "online":  # where a frame's rows to predict do not count as arrived, one by one
        features = np.concatenate([stream.form.encode(LATER[row : row + 1]) for row in range(len(LATER))])
    else:
        features = stream.form.encode(LATER)
    said = plain.predict(features, verbose=0)
    np.testing.assert_array_equal(made.predict_proba(LATER), said)
    assert made.predict(LATER) == [("no", "yes")[code] for code in said.argmax(axis=1)]
    assert made.label_names == ("no", "yes") and made.group_names == ("f", "m")


@pytest.mark.filterwarnings("ignore:.*categories that were not there before")
@pytest.mark.parametrize("preprocessing", WAYS)
def test_frames_lists_dicts_and_live_rows_have_the_same_answers_and_learn_the_same(preprocessing):
    by_frame, by_list, by_dict, by_live = (tabular(preprocessing) for _ in range(4))
    frame = pd.concat([LATER, NEW]).set_axis(range(1000, 1069))
    rows = frame.to_dict("records")
    frame.loc[frame.index[3], "sex"] = rows[3]["sex"] = None  # which is a feature, too
    frame.loc[frame.index[5], "hired"] = rows[5]["hired"] = None
    expected = by_frame.predict_proba(frame)
    assert by_frame.predict(frame) == by_list.predict(rows) == [by_dict.predict(row) for row in rows]
    pd.testing.assert_frame_equal(by_list.predict_proba(rows), expected.reset_index(drop=True), check_exact=True)
    assert expected.index.equals(frame.index)
    with by_live.live() as live:
        assert [live.predict_proba(row) for row in rows] == expected.to_dict("records")
        assert [live.predict(row) for row in rows] == by_frame.predict(frame)
    assert [by_dict.predict_proba(row) for row in rows] == expected.to_dict("records")

    said = by_frame.predict_then_learn(frame)
    assert said.shape == (69, 2)
    np.testing.assert_array_equal(by_list.predict_then_learn(rows), said)
    np.testing.assert_array_equal(np.concatenate([by_dict.predict_then_learn(row) for row in rows]), said)
    with by_live.live() as live:
        np.testing.assert_array_equal(live.predict_then_learn(rows[0]), said[0])
        for row in rows[1:]:
            features = {name: row[name] for name in ("age", "city", "sex")}
            live.learn(features, label=row["hired"], group=row["sex"])
    for other in (by_list, by_dict, by_live):
        assert_same_state(by_frame, other, same_cut=False)
    assert by_frame.so_far()["rows"] == 240 + 69  # the label or the group of each is known


PROGRAM = """
import sys, keras, numpy as np, pandas as pd, aranyani_tf
made, frame = keras.saving.load_model(sys.argv[1]), pd.read_parquet(sys.argv[2])
said = [made.predict_proba(frame).to_numpy(), made.predict_then_learn(frame)]
with made.live() as live:
    said += [live.predict_then_learn(row)[None] for row in frame.to_dict("records")]
np.save(sys.argv[3], np.concatenate(said))
made.save(sys.argv[4])
"""


@pytest.mark.parametrize("preprocessing", WAYS)
def test_saved_and_loaded_in_a_new_process_it_answers_and_learns_on_to_the_same_bits(tmp_path, preprocessing):
    made = tabular(preprocessing)
    paths = [tmp_path / name for name in ("model.keras", "later.parquet", "said.npy", "after.keras")]
    made.save(paths[0])
    LATER.to_parquet(paths[1])
    result = forked.python("-c", PROGRAM, *paths)
    assert result.returncode == 0, result.stderr
    said = [made.predict_proba(LATER).to_numpy(), made.predict_then_learn(LATER)]
    with made.live() as live:
        said += [live.predict_then_learn(row)[None] for row in LATER.to_dict("records")]
    np.testing.assert_array_equal(np.load(paths[2]), np.concatenate(said))
    assert_same_state(made, keras.saving.load_model(paths[3]))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)


def test_loading_says_nothing_and_needs_no_unsafe_mode(tmp_path):
    tabular().save(tmp_path / "model.keras")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
    assert isinstance(loaded, ar.TabularModel) and loaded.so_far()["rows"] == 240
    with zipfile.ZipFile(tmp_path / "model.keras") as file:
        assert not [name for name in file.namelist() if "pickle" in name or name.endswith(".pkl")]


def rewritten(source, target, change):
    """The .keras file with another config.json, or with members of another file."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


def with_form(edit):
    def change(name, content):
        if name != "config.json":
            return content
        config = json.loads(content)
        form = json.loads(config["config"]["form"])
        edit(form)
        config["config"]["form"] = json.dumps(form)
        return json.dumps(config)
    return change


def test_a_file_whose_form_was_changed_is_refused(tmp_path):
    tabular().save(tmp_path / "model.keras")
    swap = with_form(lambda form: form["contents"]["labels"].reverse())  # yes would be no
    rewritten(tmp_path / "model.keras", tmp_path / "changed.keras", swap)
    with pytest.raises(DamagedFileError, match=r"the form in the \.keras file is damaged or was edited"):
        keras.saving.load_model(tmp_path / "changed.keras")
    rewritten(tmp_path / "model.keras", tmp_path / "newer.keras", with_form(lambda form: form.update(version=2)))
    with pytest.raises(TableError, match="reads up to 1; update it"):
        keras.saving.load_model(tmp_path / "newer.keras")
    rewritten(tmp_path / "model.keras", tmp_path / "same.keras", with_form(lambda form: None))
    assert keras.saving.load_model(tmp_path / "same.keras").predict(LATER)


def test_a_form_of_another_moment_is_refused_at_the_first_use(tmp_path):
    made = tabular("online")
    made.save(tmp_path / "early.keras")
    made.predict_then_learn(LATER)
    made.save(tmp_path / "late.keras")
    with zipfile.ZipFile(tmp_path / "early.keras") as early:
        config = early.read("config.json")
    rewritten(tmp_path / "late.keras", tmp_path / "mixed.keras",
              lambda name, content: config if name == "config.json" else content)
    mixed = keras.saving.load_model(tmp_path / "mixed.keras")
    for use in (lambda: mixed.predict(LATER), lambda: mixed.predict_then_learn(LATER), lambda: mixed.fit(LATER),
                lambda: mixed.evaluate(LATER), mixed.live().__enter__,
                lambda: mixed.save(tmp_path / "x.keras")):
        with pytest.raises(DamagedFileError, match=r"two moments.*form was"):
            use()


def test_labels_and_groups_that_come_later_have_the_rule_of_training():
    made = tabular(num_labels=3, num_groups=3, drop_group=True)
    row = {"age": 30, "city": "Pune"}
    assert made.predict(row) in ("no", "yes") and set(made.predict_proba(row)) == {"no", "yes"}
    with made.live() as live:
        with pytest.raises(TableError, match="not a number"):  # which is refused, and takes no room
            live.learn(row | {"age": "old"}, label="perhaps", group="x")
        live.learn(row, label="maybe", group="d")
        assert live.predict_proba(row).keys() == {"no", "yes", "maybe"}
        with pytest.raises(TableError, match="group column 'sex' has the new value 'x'; known are f, m, d"):
            live.learn(row, label="maybe", group="x")
    assert made.label_names == ("no", "yes", "maybe") and made.group_names == ("f", "m", "d")
    before = weights(made)
    for rows in (row | {"hired": "never"}, [row, row | {"hired": "never"}], pd.DataFrame([row | {"hired": "never"}])):
        with pytest.raises(TableError, match="label column 'hired' has the new value 'never'"):
            made.predict_then_learn(rows)
    for left, right in zip(before, weights(made), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_label_or_a_group_that_is_missing_is_not_learned_from():
    made, plain = tabular(drop_group=True), tabular(drop_group=True)
    features = made.form.encode(LATER)
    cases = [({"hired": "yes"}, 1, -1), ({"sex": "m"}, -1, 1), ({"sex": None, "hired": ""}, -1, -1), ({}, -1, -1)]
    for number, (known, label, group) in enumerate(cases):
        row = LATER[["age", "city"]].iloc[number].to_dict() | known
        rows = (row, pd.DataFrame([row]))[number % 2]
        np.testing.assert_array_equal(made.predict_then_learn(rows), plain.model.predict_then_learn(
            features[number : number + 1], [label], [group]))
    assert_same_state(made, plain)


@pytest.mark.parametrize("preprocessing", ["one_hot", "online"])
def test_fit_and_evaluate_take_frames_files_and_streams(tmp_path, preprocessing):
    by_frame, by_file, by_stream = (tabular(preprocessing) for _ in range(3))
    LATER.to_csv(tmp_path / "later.csv", index=False)
    before = by_frame.form.to_json()
    scores = [made.evaluate(rows, verbose=0, return_dict=True)["accuracy"]
              for made, rows in ((by_frame, LATER), (by_file, tmp_path / "later.csv"))]
    assert scores[0] == scores[1] and by_frame.form.to_json() == before and by_frame.so_far()["rows"] == 240
    by_frame.fit(LATER, verbose=0)
    by_file.fit(tmp_path / "later.csv", verbose=0)
    by_stream.fit(ar.Stream.from_form(by_stream.form, LATER), verbose=0)
    assert_same_state(by_frame, by_file)
    assert_same_state(by_frame, by_stream)
    assert (by_frame.form.to_json() != before) == (preprocessing == "online")
    with pytest.raises(ArgumentError, match="other features than the form"):
        by_frame.fit(ar.datasets.load("compas"))


def test_regression_gives_numbers_and_learns_from_them(tmp_path):
    made = tabular(label="pay", exclude=["hired"], num_labels=1)
    rows = LATER.to_dict("records")
    values = made.predict(LATER)
    assert values == made.predict(rows) == [made.predict(row) for row in rows]
    assert all(type(value) is float for value in values) and np.std(values) > 1 and made.label_names is None
    with made.live() as live:
        assert [live.predict(row) for row in rows] == values
        said = live.predict_then_learn(rows[0])
        live.learn(rows[1], label=None)
        live.learn(rows[2], label="12.5")
        for refused in (made.predict_proba, live.predict_proba):
            with pytest.raises(ArgumentError, match="a regression has no probabilities"):
                refused(rows[0])
    assert said == np.float32(values[0])
    made.save(tmp_path / "model.keras")
    assert keras.saving.load_model(tmp_path / "model.keras").predict(LATER) == made.predict(LATER)


def test_what_is_no_row_and_what_does_not_go_together_is_named():
    made = tabular()
    for rows, message in ((3, "rows must be a pandas DataFrame, a dict or a list of dicts, got int"), ("x", "got str"),
                          ([1], "row 0 of this list is a int"), ([], "at least one row"),
                          (np.zeros((2, 3)), "got ndarray")):
        for use in (made.predict, made.predict_then_learn):
            with pytest.raises(ArgumentError, match=message):
                use(rows)
    for rows in ({"age": 3}, [{"age": 3}], pd.DataFrame({"age": [3]})):
        for use in (made.predict, made.predict_then_learn):
            with pytest.raises(TableError, match="no column 'city'"):
                use(rows)
    form = made.form
    for model, message in ((ar.Aranyani(num_labels=3), "the model has 3 labels, and the form of the table 2; .*=2"),
                           (ar.Aranyani(num_groups=5), "5 groups.*num_groups=2"), (keras.Sequential(), "an Aranyani")):
        with pytest.raises(ArgumentError, match=message):
            ar.TabularModel(model, form)
    narrow = ar.Aranyani()
    narrow.build((None, 3))
    with pytest.raises(ArgumentError, match="the model has 3 features, and the form of the table 6"):
        ar.TabularModel(narrow, form)
    with pytest.raises(ArgumentError, match="form must be that of a table"):
        ar.TabularModel(ar.Aranyani(), None)


def test_a_live_session_owns_the_state_and_what_is_saved_has_it(tmp_path):
    made = tabular("online")
    with made.live() as live:
        for row in LATER.to_dict("records"):
            live.learn(row)
        for use in (lambda: made.fit(LATER), lambda: made.predict_then_learn(LATER)):
            before = made.form.to_json()
            with pytest.raises(InUseError):
                use()
            assert made.form.to_json() == before
        made.save(tmp_path / "model.keras")
        answers = [live.predict_proba(row) for row in LATER.to_dict("records")]
    with pytest.raises(InUseError):
        live.predict(LATER.iloc[0].to_dict())
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.predict_proba(LATER).to_dict("records") == answers
    assert_same_state(made, loaded)


def test_what_is_saved_while_threads_learn_is_of_one_moment(tmp_path, request):
    before = sys.getswitchinterval()
    request.addfinalizer(lambda: sys.setswitchinterval(before))
    sys.setswitchinterval(1e-5)  # threads come between each other's lines
    made, rows = tabular("online"), LATER.to_dict("records")
    done, errors = threading.Event(), []

    def learn(live):
        try:
            while not done.is_set():
                for row in rows:
                    live.learn(row)
        except Exception as error:
            errors.append(error)

    with made.live() as live:
        threads = [threading.Thread(target=learn, args=(live,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(10):
            made.save(tmp_path / f"{number}.keras")
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []
    for number in range(10):
        loaded = keras.saving.load_model(tmp_path / f"{number}.keras")
        assert loaded.so_far()["rows"] == loaded.form.encoder.moments.count[0]


def test_a_callback_may_save_while_another_thread_wants_to_learn(tmp_path):
    made, waiting = tabular(), []

    class Saver(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            thread = threading.Thread(target=lambda: made.predict_then_learn(LATER), daemon=True)
            thread.start()
            thread.join(timeout=0.3)
            waiting.append(thread)
            made.save(tmp_path / "model.keras")

    fitting = threading.Thread(target=lambda: made.fit(FIRST, callbacks=[Saver()], verbose=0), daemon=True)
    fitting.start()
    for thread in (fitting, *waiting):
        thread.join(timeout=60)
        assert not thread.is_alive()
    waiting[0].join(timeout=60)
    assert made.so_far()["rows"] == 240 + 240 + 60 and (tmp_path / "model.keras").is_file()


def test_rows_of_a_table_can_have_weights():
    made, plain = (tabular() for _ in range(2))
    heavy = np.random.default_rng(0).choice([0.0, 0.5, 3.0], len(LATER))
    more = ar.Stream.from_form(plain.form, LATER)
    said = plain.model.predict_then_learn(more.features, more.labels, more.groups, heavy)
    assert np.array_equal(made.predict_then_learn(LATER, heavy), said)
    with made.live() as live:
        live.learn(LATER.iloc[0].to_dict(), sample_weight=2.5)
    plain.model.predict_then_learn(more.features[:1], more.labels[:1], more.groups[:1], [2.5])
    made.fit(LATER, sample_weight=heavy, verbose=0)
    plain.model.fit(more, sample_weight=heavy, verbose=0)
    assert_same_state(made, plain, same_cut=False)
