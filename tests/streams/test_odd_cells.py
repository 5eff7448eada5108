"""Cells, names and options that nobody would write on purpose: each is refused by a sentence that names it."""

import json

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.streams.cells import as_number
from aranyani_tf.streams.table_form import FORM, TableForm


def people(**changed):
    return pd.DataFrame({"age": [30, 50, 40, 45], "city": ["Pune", "Lima", "Pune", "Bonn"], "sex": ["f", "m", "f", "m"],
                         "hired": ["no", "yes", "yes", "no"]} | changed)


def stream(frame, **options):
    return ar.Stream.from_dataframe(frame, label="hired", group="sex", **options)


@pytest.mark.parametrize(("column", "cell"), [("age", 10**400), ("age", []), ("age", "\ud800"), ("age", np.ma.masked),
                                              ("age", np.void(b"ab")), ("age", {"a": 1}), ("city", "\ud800")])
def test_a_cell_that_pandas_stumbles_over_is_refused_with_its_column(column, cell):
    cells = pd.Series([None, *people()[column][1:]], dtype=object)
    cells[0] = cell
    with pytest.raises(ar.errors.TableError, match=repr(column)):
        stream(people(**{column: cells}))


def test_a_number_past_every_float_is_refused_in_a_row_too():
    with pytest.raises(ar.errors.TableError, match="'age'"):
        as_number(10**400, "age")


def test_a_name_with_half_of_a_character_is_refused():
    with pytest.raises(ar.errors.TableError, match="whose name is no text"):
        stream(people().set_axis(pd.Index(["\ud800", "city", "sex", "hired"], dtype=object), axis=1))


def test_a_separator_that_is_no_text_is_refused():
    with pytest.raises(ar.errors.ArgumentError, match="separator must be a text"):
        stream(people(), separator=memoryview(b"ab"))


def changed_form(**changed):
    return json.dumps(FORM.sealed(stream(people()).form.contents() | changed))


@pytest.mark.parametrize("changed", [
    {"kinds": {"age": "numbers"}}, {"kinds": 3}, {"labels": None}, {"labels": ["no"]}, {"groups": ["f", "f"]},
    {"labels": [1, 2]}, {"groups": {"f": 1}}, {"encoder": {}}, {"options": {"label": "hired"}}], ids=str)
def test_a_form_whose_parts_do_not_fit_together_is_refused_though_its_check_sum_is_right(changed):
    with pytest.raises(ar.errors.DamagedFileError):
        TableForm.from_json(changed_form(**changed))


@pytest.mark.parametrize(("name", "value"), [
    ("columns", ["age", "age"]), ("center", [0.0]), ("spread", [None] * 4), ("codes", {"city": ["Pune", "Pune"]}),
    ("with_other", ["age"]), ("codes", {})], ids=str)
def test_an_encoder_whose_parts_do_not_fit_together_is_refused(name, value):
    encoder = stream(people()).form.contents()["encoder"]
    with pytest.raises(ar.errors.DamagedFileError):
        TableForm.from_json(changed_form(encoder=encoder | {name: value}))


def test_a_document_nested_without_end_is_refused():
    with pytest.raises(ar.errors.TableError):
        TableForm.from_json("[" * 100_000)


@pytest.mark.parametrize("change", [
    lambda given: given["x"], lambda given: given[float], lambda given: given[np.zeros(3, bool)],
    lambda given: given.shuffled("a"), lambda given: given.shuffled(-1), lambda given: given.fraction("half"),
    lambda given: given.held_out(np.datetime64("2024-01-01")), lambda given: given.held_out(0.1, seed="a"),
    lambda given: ar.Stream([[1.0]], [0], [0], feature_names=3),
    lambda given: ar.Stream([[1.0]], [0], [0], label_names=np.ma.masked)])
def test_rows_orders_and_names_of_a_stream_that_cannot_be_are_refused(change):
    with pytest.raises(ar.errors.ArgumentError):
        change(ar.Stream([[1.0], [2.0]], [0, 1], [0, 1]))


def test_a_stream_with_missing_groups_counts_those_that_there_are():
    groups = pd.array([None, 1, 2], dtype="Int64")  # whose missing values become NaN, which rules refuse or skip later
    assert ar.Stream(np.zeros((3, 1)), [0, 1, 1], groups).num_groups == 3
