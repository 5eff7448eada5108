"""Columns of a table: many categories, times, Parquet files, types with gaps, and accidents that are refused."""

import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import TableError
from aranyani_tf.streams import table_reader as tables

PEOPLE = pd.DataFrame({
    "age": [30, 50, 40, 20, 35, 61], "city": ["Pune", "Lima", "Pune", "Bonn", "Oslo", "Lima"],
    "sex": ["f", "m", "f", "m", "f", "m"], "hired": ["no", "yes", "yes", "no", "no", "yes"]})
ROLES = {"label": "hired", "group": "sex"}


def from_people(frame=PEOPLE, **options):
    return ar.Stream.from_dataframe(frame, **{**ROLES, **options})


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def column(stream, name):
    return stream.features[:, stream.feature_names.index(name)]


def test_rare_categories_of_a_column_with_many_become_one():
    """Lima and Pune are the frequent ones; Bonn and Oslo, and later Rome, are others."""
    stream = from_people(max_categories=3, drop_group=True)
    assert stream.feature_names == ("age", "city=Lima", "city=Pune", "city=(other)")
    assert column(stream, "city=(other)").tolist() == [0, 0, 0, 1, 1, 0]
    assert stream.report.loc["city", "values"] == "2 categories and other"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the others have a feature
        assert stream.more(PEOPLE[:1].assign(city="Rome")).features[0, 1:].tolist() == [0, 0, 1]
    coded = from_people(max_categories=3, preprocessing="standardized", scale=False)
    assert column(coded, "city").tolist() == [1, 0, 1, 2, 2, 0]
    scaled = column(from_people(max_categories=3, preprocessing="standardized"), "city")
    np.testing.assert_allclose([scaled.mean(), scaled.std(ddof=1)], [0, 1], atol=1e-6)
    online = from_people(max_categories=3, preprocessing="online", scale=False)
    assert column(online, "city").tolist() == [0, 1, 0, 2, 2, 1]  # the first two have a code, the rest one
    assert column(online.more(PEOPLE[:2].assign(city=["Rome", "Lima"])), "city").tolist() == [2, 1]
    assert from_people(max_categories=4).feature_names == from_people().feature_names


@pytest.mark.parametrize("preprocessing", ["one_hot", "standardized", "online"])
def test_a_column_that_is_different_in_every_row_is_refused(preprocessing):
    rows = pd.DataFrame({"case": [f"no. {number}" for number in range(2000)], "x": range(2000),
                         "a": np.arange(2000) % 2, "y": np.arange(2000) % 3 == 0})
    options = {"label": "y", "group": "a", "preprocessing": preprocessing}
    with pytest.raises(TableError, match=r"column 'case' has more than 1,000 categories.*exclude=\['case'\]"):
        ar.Stream.from_dataframe(rows, **options)
    assert ar.Stream.from_dataframe(rows, exclude="case", **options).feature_names[0] == "x"
    twice = rows.assign(case=rows["case"].iloc[np.arange(2000) // 2 * 2].to_numpy())
    stream = ar.Stream.from_dataframe(twice.assign(case=[*twice["case"][:1900], *["home"] * 100]),
                                      max_categories=10, **options)
    assert stream.report.loc["case", "values"] == "9 categories and other"


def test_times_become_days_since_1970(tmp_path):
    days = [0, 1.5, 19753, 2, 3, 4]
    times = pd.Timestamp("1970-01-01") + pd.to_timedelta(days, unit="D")
    people = PEOPLE.assign(
        naive=times, zoned=times.tz_localize("UTC").tz_convert("Asia/Kolkata"), lasted=pd.to_timedelta(days, unit="D"),
        text=times.strftime("%Y-%m-%dT%H:%M:%SZ"), date=[day.date() for day in times],
        day=times.strftime("%Y-%m-%d"))
    stream = from_people(people, scale=False)
    for name in ("naive", "zoned", "text", "lasted"):
        assert column(stream, name).tolist() == days
    for name in ("date", "day"):
        assert column(stream, name).tolist() == [0, 1, 19753, 2, 3, 4]
    assert stream.report.loc["naive"].tolist() == ["feature", "times", "days since 1970"]
    assert from_people(people).report.loc["day"].tolist() == [
        "feature", "times", "days since 1970, z-score of all rows"]
    people.to_csv(tmp_path / "people.csv", index=False)
    people.to_parquet(tmp_path / "people.parquet")
    for other in (ar.Stream.from_csv(tmp_path / "people.csv", exclude="lasted", scale=False, **ROLES),
                  ar.Stream.from_parquet(tmp_path / "people.parquet", scale=False, **ROLES)):
        assert column(other, "day").tolist() == column(other, "date").tolist() == [0, 1, 19753, 2, 3, 4]
        assert column(other, "zoned").tolist() == days and other.report.loc["text", "values"] == "times"
    swapped = people.assign(naive=people["text"], text=people["zoned"])  # as a text or as a time, it is the same
    np.testing.assert_array_equal(stream.form.encode(swapped), stream.features)
    assert "day=1970-01-02" in from_people(people, categorical=["day"]).feature_names


def test_a_cell_that_is_no_time_is_named():
    people = PEOPLE.assign(born=["2000-01-31"] * 6)
    stream = from_people(people)
    for wrong in ("soon", "2000", "31.01.2000", 11, "2000-13-01"):
        with pytest.raises(TableError, match=rf"row 1: column 'born' of .* is '{wrong}', not a date such as 2024"):
            stream.more(people[:2].assign(born=["2000-02-29", wrong]))
    with pytest.raises(TableError, match=r"row 0: column 'age' of .* not a number"):
        stream.more(people[:2].assign(age=pd.Timestamp("2000-01-01")))
    with pytest.raises(TableError, match=r"row 1: column 'born' of .* is empty"):
        stream.more(people[:2].assign(born=["2000-02-29", ""]))


def test_a_group_that_is_a_date_is_a_name():
    stream = from_people(PEOPLE.assign(sex=["2024-01-01", "2024-02-01"] * 3))
    assert stream.group_names == ("2024-01-01", "2024-02-01") and "sex=2024-01-01" in stream.feature_names


def test_parquet_gives_what_its_frame_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "PIECE", 4)
    path = tmp_path / "people.parquet"
    PEOPLE.astype({"city": "category"}).to_parquet(path)
    for options in ({}, {"preprocessing": "online"}, {"preprocessing": "standardized", "drop_group": True}):
        stream, frame = ar.Stream.from_parquet(path, **ROLES, **options), from_people(**options)
        np.testing.assert_allclose(stream.features, frame.features, rtol=1e-6)
        np.testing.assert_array_equal((stream.labels, stream.groups), (frame.labels, frame.groups))
        assert stream.report.equals(frame.report) and stream.name == str(path)
    np.testing.assert_array_equal(from_people().more(path).features, from_people().features)
    with pytest.raises(FileNotFoundError, match="no file"):
        ar.Stream.from_parquet(tmp_path / "nothing.parquet", **ROLES)
    with pytest.raises(TableError, match=r"wrong.parquet cannot be read as a Parquet file"):
        from_people().more(written(tmp_path / "wrong.parquet", "age,city,sex,hired\n"))
    PEOPLE[:0].to_parquet(path)
    with pytest.raises(TableError, match="has no rows"):
        ar.Stream.from_parquet(path, **ROLES)


@pytest.mark.parametrize(("header", "named"), [("x,a,y,y", "'y'"), ("a,x,a,y", "'a'"), ("x, y,a,y", "'y'")])
def test_a_csv_with_two_columns_of_one_name_is_refused(tmp_path, header, named):
    """pandas would call the second one `y.1`, and the label would be a feature."""
    path = written(tmp_path / "twice.csv", f"{header}\n1,0,1,0\n2,1,0,1\n3,1,1,0\n")
    with pytest.raises(TableError, match=f"twice.csv has more than one column {named}"):
        ar.Stream.from_csv(path, label="y", group="a")
    with pytest.raises(TableError, match="more than one column"):
        from_people().more(path)


def test_a_column_that_is_called_like_a_renamed_one_is_kept(tmp_path):
    path = written(tmp_path / "once.csv", "y.1,a,y\n1,0,1\n2,1,0\n3,1,1\n")
    assert ar.Stream.from_csv(path, label="y", group="a").feature_names == ("y.1", "a")


GERMAN = "x;w;a;y\n1,5;1;f;0\n2;2;m;1\n-0,25;3;f;1\n"


def test_decimal_commas_are_named_and_read_when_told(tmp_path):
    path = written(tmp_path / "german.csv", GERMAN)
    options = {"label": "y", "group": "a", "separator": ";", "scale": False}
    with pytest.raises(TableError, match=r"column 'x' of .* numbers such as '1,5'.*decimal=','.*categorical=\['x'\]"):
        ar.Stream.from_csv(path, **options)
    stream = ar.Stream.from_csv(path, decimal=",", **options)
    assert column(stream, "x").tolist() == [1.5, 2, -0.25]
    assert column(stream.more(path), "x").tolist() == [1.5, 2, -0.25]  # separator and decimal are remembered
    with pytest.raises(TableError, match=r"row 0: column 'x' .* is '1,5', not a number"):
        stream.more(path, decimal=".")
    points = written(tmp_path / "points.csv", GERMAN.replace(",", "."))
    with pytest.raises(TableError, match=r"such as '1\.5', but the decimal mark is ','.*decimal='\.'"):
        ar.Stream.from_csv(points, decimal=",", **options)
    thousands = written(tmp_path / "thousands.csv", GERMAN.replace("1,5", "1.234,5"))
    with pytest.raises(TableError, match=r"numbers such as '1\.234,5'"):
        ar.Stream.from_csv(thousands, decimal=",", **options)
    assert "x=1,5" in ar.Stream.from_csv(path, categorical="x", **options).feature_names
    with pytest.raises(TableError, match="numbers such as '1,5'"):
        from_people(PEOPLE.assign(age=["1,5", "2,5", "3", "4", "5", "6"]))


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**60, -(2**63)])
def test_whole_numbers_that_would_merge_are_refused(tmp_path, value):
    for values in ([value, 1, 2, 3, 4, 5], [value, 1, None, 3, 4, 5]):
        people = PEOPLE.assign(age=pd.Series(values, dtype=object))
        with pytest.raises(TableError, match=r"row 0: column 'age' of .*(exclude|categorical)=\['age'\]"):
            from_people(people, on_empty_cells="fill")
        people.to_csv(tmp_path / "people.csv", index=False)
        with pytest.raises(TableError, match=rf"row 0: column 'age' of .* is '{value}'.*=\['age'\]"):
            ar.Stream.from_csv(tmp_path / "people.csv", on_empty_cells="fill", **ROLES)
        exact = pd.Series([0 if cell is None else cell for cell in values], dtype="Int64")
        people.assign(age=exact.where(pd.notna(values))).to_parquet(tmp_path / "people.parquet")
        with pytest.raises(TableError, match=rf"row 0: column 'age' of .* is '{value}'.*=\['age'\]"):
            ar.Stream.from_parquet(tmp_path / "people.parquet", on_empty_cells="fill", **ROLES)
    assert len(ar.Stream.from_csv(tmp_path / "people.csv", exclude="age", **ROLES)) == 6
    assert f"age={value}" in ar.Stream.from_csv(tmp_path / "people.csv", categorical="age", on_empty_cells="fill",
                                                **ROLES).feature_names


def test_the_smallest_integer_is_not_group_0():
    stream = ar.Stream(np.ones((3, 2)), [0, 1, 1], np.array([-(2**63), 0, 1]))
    with pytest.raises(ValueError, match="group is -9223372036854775808"):
        ar.Aranyani(num_trees=1, height=1).predict_then_learn(stream.features, stream.labels, stream.groups)
    with pytest.raises(TableError, match=r"row 0: column 'sex' of .* is '-9223372036854775808'"):
        from_people(PEOPLE.assign(sex=[-(2**63), 0, 1, 0, 1, 0]))


@pytest.mark.parametrize(("values", "dtype", "expected"), [
    ([1, None, 3, 4, 5, 6], "Int64", "numbers"), ([1, None, 3, 4, 5, 6], "Float64", "numbers"),
    ([1, None, 3, 4, 5, 6], object, "numbers"), ([1, None, 3, 4, 5, 6], "int64[pyarrow]", "numbers"),
    ([decimal.Decimal(1), None, *map(decimal.Decimal, range(3, 7))], object, "numbers"),
    ([True, None, True, False, False, True], "boolean", "numbers"),
    ([True, None, True, False, False, True], object, "numbers"),
    ([datetime.date(2000, 1, 1), None, *[datetime.date(2000, 1, 2)] * 4], object, "times"),
    ([*"u", None, *"vuvu"], "string", "2 categories"), ([*"u", None, *"vuvu"], "str", "2 categories"),
    ([*"u", None, *"vuvu"], object, "2 categories"), ([*"u", "", *"vuvu"], object, "2 categories"),
    ([*"u", None, *"vuvu"], "category", "2 categories"),
    ([1.0, None, 2.0, 1.0, 2.0, 1.0], "category", "2 categories"),
], ids=str)
def test_gaps_of_every_type_are_empty_cells(values, dtype, expected):
    people = PEOPLE.assign(city=pd.Series(values, dtype=dtype))
    with pytest.raises(TableError, match=r"row 1: column 'city' of .* is empty"):
        from_people(people)
    with pytest.warns(UserWarning, match="left out 1 rows"):
        kept = from_people(people, on_empty_cells="skip")
    assert kept.report.loc["city", "values"] == expected
    complete = people.drop(index=1)
    np.testing.assert_array_equal(kept.features, from_people(complete.assign(city=complete["city"].array)).features)
    filled = from_people(people, on_empty_cells="fill")
    width = filled.num_features - 3  # but for the age and the two sexes
    assert not filled.features[1, 1 : 1 + width].any() and np.isfinite(filled.features).all()
    labelled = from_people(people.assign(hired=people["city"]), num_labels=None, exclude="city")
    assert labelled.labels[1] == -1 and (labelled.labels[[0, 2, 3, 4, 5]] >= 0).all()


@pytest.mark.parametrize("preprocessing", ["one_hot", "standardized", "online"])
def test_where_the_pieces_end_makes_no_difference(tmp_path, monkeypatch, preprocessing):
    """A table with gaps in every column, many categories and times, in pieces of 7 rows and in one."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame({
        "x": random.normal(size=500), "n": random.integers(0, 9, 500),
        "c": random.zipf(1.5, 500).clip(max=99).astype(str),
        "t": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 9999, 500), unit="h"),
        "a": random.choice(["f", "m", "d"], 500), "y": random.choice(["no", "yes"], 500)})
    rows = rows.astype(object).mask(random.random(rows.shape) < 0.1).convert_dtypes()
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    options = {"label": "y", "group": "a", "num_groups": 3, "preprocessing": preprocessing, "on_empty_cells": "fill",
               "max_categories": 20, "categorical": ["c"]}
    whole = ar.Stream.from_dataframe(rows, **options)
    assert whole.report.loc[["c", "t"], "values"].tolist() == ["19 categories and other", "times"]
    assert (whole.report["empty"] > 30).all() and (whole.groups == -1).sum() == whole.report.loc["a", "empty"]
    monkeypatch.setattr(tables, "PIECE", 7)
    for stream in (ar.Stream.from_dataframe(rows, **options), ar.Stream.from_csv(tmp_path / "rows.csv", **options),
                   ar.Stream.from_parquet(tmp_path / "rows.parquet", **options)):
        np.testing.assert_allclose(stream.features, whole.features, atol=1e-5)
        np.testing.assert_array_equal((stream.labels, stream.groups), (whole.labels, whole.groups))
        assert stream.report.equals(whole.report) and stream.feature_names == whole.feature_names
    if preprocessing == "online":
        first = ar.Stream.from_dataframe(rows[:300], **options)
        features = np.concatenate([first.features, first.more(rows[300:]).features])
        np.testing.assert_allclose(features, whole.features, atol=1e-5)


def test_a_column_that_is_left_out_may_hold_anything():
    odd = PEOPLE.assign(note=["1", "2", "3", "4", "5", "unclear"], big=2**60, when=[1j] * 6)
    assert from_people(odd, exclude=["note", "big", "when"]).feature_names == from_people().feature_names
    with pytest.raises(TableError, match="'1j', not a number"):
        from_people(odd, exclude=["note", "big"])
