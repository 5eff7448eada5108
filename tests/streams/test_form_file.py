"""The form of a table as a JSON file: the same bits again, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import DamagedFileError, TableError
from aranyani_tf.streams.table_form import FORM, TableForm
from aranyani_tf.streams.table_options import WAYS

RANDOM = np.random.default_rng(0)
# Every kind of column, and numbers whose means have no short decimals.
TABLE = pd.DataFrame({
    "income": RANDOM.lognormal(3, 2, 300), "children": RANDOM.integers(0, 5, 300), "owns": RANDOM.random(300) < 0.3,
    "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(RANDOM.integers(0, 9**9, 300), "s"),
    "waited": pd.to_timedelta(RANDOM.integers(0, 9**6, 300), "s"),
    "seen": RANDOM.choice(["2024-02-29", "2025-01-01"], 300),
    "city": RANDOM.choice(["Pune", "São Paulo", "Zürich", "東京", '"quoted", \\n', "None"], 300),
    "ward": RANDOM.choice([1, 2, 30], 300), "house": pd.Categorical(RANDOM.choice(["a", "b"], 300)),
    "sex": RANDOM.choice(["f", "m"], 300), "hired": RANDOM.random(300) < 0.4})
OPTIONS = {"label": "hired", "group": "sex", "categorical": ["ward"]}
FIRST, LATER = TABLE[:200], TABLE[200:].assign(city=[*["Rome"] * 50, *["Pune"] * 50])


@pytest.mark.filterwarnings("ignore:.*categories that were not there before")
@pytest.mark.parametrize("preprocessing", WAYS)
@pytest.mark.parametrize("changed", [{}, {"scale": False, "max_categories": 3, "drop_group": True},
                                     {"num_labels": np.int64(3), "num_groups": 4, "on_empty_cells": "fill"}], ids=str)
def test_a_form_that_was_saved_encodes_to_the_same_bits_and_goes_on_the_same_way(tmp_path, preprocessing, changed):
    stream = ar.Stream.from_dataframe(FIRST, **OPTIONS, preprocessing=preprocessing, **changed)
    path = tmp_path / "people.form.json"
    stream.form.save(path)
    form = TableForm.load(path)
    assert form.options == stream.form.options and form.contents() == stream.form.contents()
    assert [file.name for file in tmp_path.iterdir()] == ["people.form.json"]
    np.testing.assert_array_equal(form.encode(LATER), stream.form.encode(LATER))
    for _ in range(2):  # online, the second time is not the first
        there, here = ar.Stream.from_form(form, LATER), stream.more(LATER)
        for name in ("features", "labels", "groups"):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    moved = FORM.check_sum(form.contents()) != json.loads(path.read_text())["sha256"]
    assert moved == (preprocessing == "online")


def test_a_form_that_was_saved_knows_labels_and_groups_and_the_room_for_more(tmp_path):
    form = ar.Stream.from_dataframe(FIRST, **OPTIONS, num_groups=3).form
    assert form.group_of("d") == 2  # met after the table
    form.save(tmp_path / "form.json")
    form = TableForm.load(tmp_path / "form.json")
    assert form.group_names == ("f", "m", "d") and form.label_names == ("0", "1")
    assert [form.label_of(value) for value in (True, 0, "1", 1.0, None, np.nan, "")] == [1, 0, 1, 1, -1, -1, -1]
    assert [form.group_of(value) for value in ("f", "d", None)] == [0, 2, -1]
    with pytest.raises(TableError, match=r"group column 'sex' has the new value 'x'; known are f, m, d.*num_groups=4"):
        form.group_of("x")
    with pytest.raises(TableError, match="label column 'hired' has the new value '2'"):
        form.label_of(2)


def test_a_label_that_is_a_number_stays_one():
    form = ar.Stream.from_dataframe(FIRST, **(OPTIONS | {"label": "income", "num_labels": 1})).form
    form = TableForm.from_json(json.dumps(form.to_json()))
    assert form.label_names is None and form.num_labels == 1
    assert form.label_of("2.5") == 2.5 and np.isnan(form.label_of(None))
    with pytest.raises(TableError, match="column 'income' of this row is 'much', not a number"):
        form.label_of("much")


def document():
    return ar.Stream.from_dataframe(FIRST, **OPTIONS).form.to_json()


def edited(change):
    """The text of a form in which something was changed."""
    found = json.loads(json.dumps(document()))
    change(found)
    return json.dumps(found)


@pytest.mark.parametrize(("text", "error", "message"), [
    (lambda: json.dumps(document())[:-1000], DamagedFileError, "damaged or was edited"),
    (lambda: edited(lambda d: d["contents"]["encoder"]["center"].__setitem__(0, 1.5)), DamagedFileError, "check sum"),
    (lambda: edited(lambda d: d["contents"]["encoder"]["codes"]["city"].reverse()), DamagedFileError, "check sum"),
    (lambda: edited(lambda d: d["contents"]["groups"].append("x")), DamagedFileError, "check sum"),
    (lambda: edited(lambda d: d.pop("sha256")), DamagedFileError, "check sum"),
    (lambda: edited(lambda d: d.update(contents=[])), DamagedFileError, "check sum"),
    (lambda: edited(lambda d: d["contents"]["encoder"].update(center=[np.nan])), DamagedFileError, "it has NaN"),
    (lambda: edited(lambda d: d["contents"]["encoder"].update(spread=[-np.inf])), DamagedFileError, "-Infinity"),
    (lambda: edited(lambda d: d.update(version=2)), TableError, "this aranyani_tf reads up to 1; update it"),
    (lambda: edited(lambda d: d.update(format="another")), TableError, r"is no form of a table; .*stream\.form\.save"),
    (lambda: "age,sex\n1,f\n", TableError, "is no form of a table, not even JSON"),
    (lambda: "[1, 2]", TableError, "is no form of a table"), (lambda: "", TableError, "is no form")])
def test_what_is_no_whole_form_is_refused_by_name(tmp_path, text, error, message):
    path = tmp_path / "people.form.json"
    path.write_text(text(), encoding="utf-8")
    with pytest.raises(error, match=message) as told:
        TableForm.load(path)
    assert str(path) in str(told.value)


def test_contents_that_someone_made_up_are_refused_even_with_their_check_sum():
    found = document()
    del found["contents"]["encoder"]["codes"]
    found["sha256"] = FORM.check_sum(found["contents"])
    with pytest.raises(DamagedFileError, match=r"this document is damaged.*KeyError: 'codes'"):
        TableForm.from_json(found)


def test_files_that_are_no_texts_or_not_there_are_named(tmp_path):
    (tmp_path / "model.keras").write_bytes(bytes(range(256)))
    with pytest.raises(TableError, match=r"model.keras is no form of a table: it is no text"):
        TableForm.load(tmp_path / "model.keras")
    with pytest.raises(FileNotFoundError, match=r"none.json"):
        TableForm.load(tmp_path / "none.json")


def test_a_number_that_is_not_finite_is_never_written(tmp_path):
    form = ar.Stream.from_dataframe(FIRST, **OPTIONS).form
    form.encoder.center[0] = np.inf
    with pytest.raises(TableError, match="not finite"):
        form.save(tmp_path / "form.json")
    assert not list(tmp_path.iterdir())
