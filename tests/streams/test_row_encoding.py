"""One row as a dict has the features that a data frame with this row alone has, to the last bit."""

import copy
import datetime
import decimal
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aranyani_tf as ar
from aranyani_tf.errors import AranyaniError, ArgumentError, TableError
from aranyani_tf.streams.table_form import TableForm
from aranyani_tf.streams.table_options import WAYS

RANDOM = np.random.default_rng(1)
TABLE = pd.DataFrame({
    "income": RANDOM.lognormal(3, 2, 90), "children": RANDOM.integers(0, 5, 90), "owns": RANDOM.random(90) < 0.3,
    "born": [str(day) for day in np.datetime64("1960-01-01") + RANDOM.integers(0, 20_000, 90)],
    "city": RANDOM.choice(["Pune", "Lima", "Bonn", "Oslo"], 90), "ward": RANDOM.choice([1, 2, 30], 90),
    "constant": 7, "sex": RANDOM.choice(["f", "m"], 90), "hired": RANDOM.choice(["no", "yes"], 90)})
FORMS = {(way, str(further)): ar.Stream.from_dataframe(
    TABLE, label="hired", group="sex", categorical=["ward"], preprocessing=way, **further).form
    for way in WAYS for further in ({}, {"on_empty_cells": "fill"}, {"scale": False, "on_empty_cells": "fill"},
                                    {"max_categories": 3, "drop_group": True, "on_empty_cells": "fill"})}
FORMS["one_hot", "raise"] = ar.Stream.from_dataframe(
    TABLE, label="hired", group="sex", categorical=["ward"], unknown="raise", on_empty_cells="fill").form

EMPTY = st.sampled_from([None, math.nan, "", pd.NA, np.nan])
NUMBERS = (st.floats(-1e17, 1e17) | st.integers(-2**52, 2**52) | st.integers(0, 4) | st.booleans()
           | st.integers(-99, 99).map(str) | st.decimals(-999, 999, places=3).map(str)
           | st.floats(-1e6, 1e6).map(repr) | st.floats(-9, 9, width=32).map(np.float32)
           | st.integers(0, 99).map(np.int64) | st.decimals(-9, 9, places=2))
ODD_NUMBERS = st.sampled_from([" 3", "1e3", "+4.5", "1_000", "0x10", "1,5", "old", "inf", math.inf, 1e19, 2**60, 10**30,
                               "9007199254740993", "٣", 2 + 1j, datetime.date(2020, 1, 1), [1]])
TIMES = (st.dates(datetime.date(1600, 1, 1), datetime.date(2261, 1, 1)).map(str)
         | st.datetimes(datetime.datetime(1601, 1, 1), datetime.datetime(2261, 1, 1)).map(str)
         | st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)).map(
             lambda time: time.isoformat("T", "seconds"))
         | st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2100, 1, 1)).map(pd.Timestamp))
ODD_TIMES = st.sampled_from(["2023-02-29", "2024-05-31T10:00Z", "2024-05-31 10:00+02:00", "2024-05-31T24:00",
                             "1.5.2024", "2024-05-31T10", 3, 2.5,
                             datetime.date(2024, 5, 31), np.datetime64("2024-05-31"), True])
TEXTS = st.sampled_from(["Pune", "Lima", "Bonn", "Rome", "nan", "None"]) | st.text(max_size=5)
WARDS = st.sampled_from([1, 2, 30, 4, "1", "30", 1.0, 30.0, 2.5, True, np.int64(2), np.float64(30), 10**20, -0.0, 1e300,
                         math.inf, decimal.Decimal("2"), "1.0"])
ROWS = st.fixed_dictionaries({
    "income": NUMBERS | EMPTY | ODD_NUMBERS, "children": NUMBERS | EMPTY, "owns": st.booleans() | NUMBERS,
    "born": TIMES | EMPTY | ODD_TIMES, "city": TEXTS | EMPTY, "ward": WARDS | EMPTY, "constant": NUMBERS,
    "sex": st.sampled_from(["f", "m", "d"]) | EMPTY})


def outcome(encode):
    """The features, or the class of what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return encode()
        except AranyaniError as error:
            return type(error)


@pytest.mark.parametrize("form", FORMS.values(), ids=map(str, FORMS))
@settings(max_examples=40, deadline=None)
@given(row=ROWS)
def test_a_row_has_the_features_of_a_frame_with_this_row_alone_or_is_refused_by_both(form, row):
    alone, framed = outcome(lambda: form.encode_row(row)), outcome(lambda: form.encode(pd.DataFrame([row])))
    if isinstance(framed, type):
        assert alone is framed
    else:
        assert alone.dtype == np.float32
        np.testing.assert_array_equal(alone, framed[0], strict=True)


@pytest.mark.parametrize("preprocessing", WAYS)
def test_every_row_of_the_table_has_the_features_that_it_had(preprocessing):
    frame = pd.read_parquet(ar.datasets.shipped.shipped("adult.parquet"))[:400]
    stream = ar.Stream.from_dataframe(frame, label="income", group="gender", preprocessing=preprocessing)
    form, rows = stream.form, frame.to_dict("records")
    if preprocessing != "online":
        np.testing.assert_array_equal([form.encode_row(row) for row in rows], stream.features)
        texts = frame.astype(str).to_dict("records")  # as a CSV file has them
        np.testing.assert_array_equal([form.encode_row(row) for row in texts], stream.features)
    for row in rows[:40]:
        np.testing.assert_array_equal(form.encode_row(row), form.encode(pd.DataFrame([row]))[0])


def test_online_a_row_to_predict_moves_nothing_and_a_row_to_learn_does():
    stream = ar.Stream.from_dataframe(TABLE[:40], label="hired", group="sex", preprocessing="online")
    form, later = stream.form, TABLE[40:].to_dict("records")
    later[3]["city"] = later[9]["city"] = "Rome"  # a category that gets the next code
    expected = copy.deepcopy(form)
    before = form.to_json()
    for row in later:
        form.encode_row(row)
    assert form.to_json() == before
    for row in later:
        frame = pd.DataFrame([row])
        one = ar.Stream.from_form(expected, frame).features[0]  # which moves the other form
        np.testing.assert_array_equal(form.encode_row(row), one)
        np.testing.assert_array_equal(form.encode_row(row, learn=True), one)
    assert form.to_json() == expected.to_json() != before
    whole = stream.form.encoder.moments
    np.testing.assert_allclose(whole.mean[0], TABLE["income"].mean(), rtol=1e-12)


def test_other_forms_do_not_move_by_rows():
    form = copy.deepcopy(FORMS["one_hot", "{}"])
    before = form.to_json()
    row = TABLE.iloc[0].to_dict()
    np.testing.assert_array_equal(form.encode_row(row, learn=True), form.encode_row(row))
    assert form.to_json() == before


def test_columns_that_are_missing_are_named_and_others_are_not_looked_at():
    form, row = FORMS["one_hot", "{}"], TABLE.iloc[0].to_dict()
    np.testing.assert_array_equal(form.encode_row(row | {"hired": object(), "more": 3}), form.encode_row(row))
    del row["city"], row["born"]
    with pytest.raises(TableError, match=r"no column 'born', 'city' in this row; there are: income, .*is None"):
        form.encode_row(row)
    for wrong in (3, None, ["Pune"], "Pune"):
        with pytest.raises(ArgumentError, match="a row must be a dict from columns to cells, got"):
            form.encode_row(wrong)


@pytest.mark.parametrize("cell", [
    "39", "-0.5", "+9927305.176270073", "+842.48255927128393", "+5014331.0896550500", "1e-3", "4908747399.7183871",
    "0.1234567890123456789", "00012", "9007199254740993", ".5", "7."])
def test_a_number_that_is_written_is_read_as_the_table_reads_it(cell):
    """Some long ones are not rounded as Python rounds them."""
    form, row = FORMS["one_hot", "{}"], TABLE.iloc[0].to_dict() | {"income": cell}
    assert form.for_rows().cells(row, fill=True)[0] == pd.to_numeric(pd.Series([cell])).iloc[0]
    np.testing.assert_array_equal(form.encode_row(row), form.encode(pd.DataFrame([row]))[0])


def test_names_that_are_numbers_count_as_written():
    frame = pd.DataFrame({1: [1.0, 2.0, 4.0], 2: ["a", "b", "a"], 3: [0, 1, 1]})
    form = ar.Stream.from_dataframe(frame, label=3, group=2).form
    np.testing.assert_array_equal(form.encode_row({1: 2.0, 2: "b"}), form.encode(frame)[1])


def test_cells_that_cannot_be_are_named():
    form, row = FORMS["one_hot", "{}"], TABLE.iloc[0].to_dict()
    for change, message in (({"income": "much"}, "column 'income' of this row is 'much', not a number"),
                            ({"income": math.inf}, "column 'income' of this row is 'inf', not a number"),
                            ({"born": "yesterday"}, "column 'born' of this row is 'yesterday', not a date"),
                            ({"children": None}, "column 'children' of this row is empty.*on_empty_cells='fill'")):
        with pytest.raises(TableError, match=message):
            form.encode_row(row | change)
    form.encode_row(row | {"children": None}, on_empty_cells="fill")
    form.encode_row(row | {"sex": None})  # the group may always be missing
    with pytest.raises(ArgumentError, match="'raise', 'fill'; got 'skip'"):
        form.encode_row(row, on_empty_cells="skip")
    with pytest.raises(TableError, match=r"column 'city' of this row has the new category 'Rome'.*unknown='ignore'"):
        FORMS["one_hot", "raise"].encode_row(row | {"city": "Rome"})


def test_a_new_category_is_told_once_for_each_column():
    form, row = TableForm.from_json(FORMS["standardized", "{}"].to_json()), TABLE.iloc[0].to_dict()
    with pytest.warns(UserWarning, match=r"column 'city' has categories.*the first is 'Rome'") as told:
        form.encode_row(row | {"city": "Rome"})
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        form.encode_row(row | {"city": "Kiel"})
