"""Rows that come later: categories, groups and labels that nobody had before, and cells that are empty."""

import warnings

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams.table_form import TableForm

PEOPLE = pd.DataFrame({
    "age": [30, 50, 40, 20, 35, 61], "city": ["Pune", "Lima", "Pune", "Bonn", "Oslo", "Lima"],
    "sex": ["f", "m", "f", "m", "f", "m"], "hired": ["no", "yes", "yes", "no", "no", "yes"]})
LATER = PEOPLE[:3].assign(city=["Rome", "Lima", "Kiel"])


def from_people(frame=PEOPLE, **options):
    return ar.Stream.from_dataframe(frame, **{"label": "hired", "group": "sex", **options})


def cells(stream, prefix, features=None):
    """The features of one column."""
    chosen = [number for number, name in enumerate(stream.feature_names) if name.split("=")[0] == prefix]
    return (stream.features if features is None else features)[:, chosen]


@pytest.mark.parametrize(("options", "expected"), [
    ({"preprocessing": "one_hot"}, [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]),
    ({"preprocessing": "standardized"}, [[0], [(1 - 10 / 6) / np.std([3, 1, 3, 0, 2, 1], ddof=1)], [0]]),
    ({"preprocessing": "standardized", "scale": False}, [[10 / 6], [1], [10 / 6]]),
], ids=str)
def test_an_unknown_category_goes_on_as_a_neutral_value_and_is_told(options, expected):
    stream = from_people(**options)
    with pytest.warns(UserWarning, match="'city': 2 cells, the first 'Rome'") as told:
        more = stream.more(LATER)
    assert len(told) == 1 and told[0].filename == __file__
    np.testing.assert_allclose(cells(more, "city"), expected, rtol=1e-6)
    np.testing.assert_array_equal(cells(more, "age"), cells(stream, "age")[:3])
    assert more.report["unknown"].to_dict() == {"age": 0, "city": 2, "sex": 0, "hired": 0}
    assert "unknown" not in stream.report
    form = TableForm.from_json(stream.form.to_json())  # what serves has the rule of what was trained
    with pytest.warns(UserWarning, match="Rome") as told:
        np.testing.assert_array_equal(form.encode(LATER.drop(columns="hired")), more.features)
    assert len(told) == 1 and told[0].filename == __file__


def test_unknown_categories_can_be_refused_in_training_and_so_in_serving():
    form = TableForm.from_json(from_people(unknown="raise").form.to_json())
    with pytest.raises(TableError, match=r"row 0: column 'city' has the new category 'Rome'.*unknown='ignore'"):
        form.encode(LATER)
    for wrong, message in (({"unknown": "error"}, "unknown must be one of 'ignore', 'raise'"),
                           ({"unknown": "raise", "preprocessing": "online"}, "has codes for new categories")):
        with pytest.raises(ArgumentError, match=message):
            from_people(**wrong)


def test_online_gives_unknown_categories_the_next_codes():
    options = {"preprocessing": "online", "scale": False}
    stream = from_people(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cells(stream.more(LATER), "city").ravel().tolist() == [4, 1, 5]


def test_rows_by_date_go_on_into_a_month_that_the_first_rows_did_not_have():
    year = pd.DataFrame({"month": ["may", "jun", "jul"] * 20 + ["sep"] * 5, "age": range(65),
                         "married": [0, 1, 1, 0, 1] * 13, "y": [0, 0, 1, 1, 0] * 13})
    stream = ar.Stream.from_dataframe(year[:60], label="y", group="married")
    with pytest.warns(UserWarning, match="'month': 5 cells, the first 'sep'"):
        assert not cells(stream.more(year[60:]), "month").any()


def test_there_is_room_for_groups_and_labels_that_come_later():
    stream = from_people(num_groups=3, num_labels=4, drop_group=True)
    assert (stream.num_groups, stream.num_labels) == (3, 4) and stream.group_names == ("f", "m")
    assert repr(stream[:2]).endswith("4 labels, 3 groups)")
    assert stream.report.loc["sex", "values"] == "f / m, room for 1"
    more = stream.more(PEOPLE.assign(sex=list("fdfdmm"), hired=["no", "yes", "a", "yes", "b", "no"]))
    assert more.groups.tolist() == [0, 2, 0, 2, 1, 1] and more.labels.tolist() == [0, 1, 2, 1, 3, 0]
    assert more.group_names == ("f", "m", "d") and more.num_groups == 3
    assert more.report.loc["hired", "values"] == "no / yes / a / b"
    assert stream.more(PEOPLE[:2].assign(sex=["d", "m"])).groups.tolist() == [2, 1]  # it is remembered
    with pytest.raises(TableError, match=r"row 1: group column 'sex' has the new value 'x'; known are f, m, d, and "
                                         r"there is room for 3.*num_groups=4"):
        stream.more(PEOPLE[:3].assign(sex=["f", "x", "x"]))


def test_a_value_of_rows_that_were_refused_takes_no_room():
    stream = from_people(num_groups=3, drop_group=True)
    with pytest.raises(TableError, match="maybe"):
        stream.more(PEOPLE[:2].assign(sex=["x", "f"], hired=["no", "maybe"]))
    assert stream.more(PEOPLE[:1].assign(sex="d")).group_names == ("f", "m", "d")


def test_more_groups_than_there_is_room_for_are_refused_at_first_reading():
    with pytest.raises(TableError, match=r"has 4 values \(a, b, c, d\) where 3 are expected; pass num_groups=4"):
        from_people(PEOPLE.assign(sex=list("abcdab")), num_groups=3)
    with pytest.raises(TableError, match="only one value, f: there is nothing to tell apart"):
        from_people(PEOPLE.assign(sex="f"))
    assert from_people(PEOPLE.assign(sex=list("abcdab")), num_groups=None).num_groups == 4
    for wrong in ({"num_groups": 1}, {"num_labels": 0}, {"num_groups": "3"}):
        with pytest.raises(ArgumentError, match="must be a whole number"):
            from_people(**wrong)


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_rows_without_a_label_or_a_group_have_minus_one(tmp_path, kind):
    people = PEOPLE.assign(hired=["no", None, "yes", "no", "no", None], sex=["f", "m", None, "m", "f", "m"])
    stream = read(tmp_path, kind, people)
    assert stream.labels.tolist() == [0, -1, 1, 0, 0, -1] and stream.groups.tolist() == [0, 1, -1, 1, 0, 1]
    assert stream.report["empty"].to_dict() == {"age": 0, "city": 0, "sex": 1, "hired": 2}
    assert cells(stream, "sex").tolist()[1:3] == [[0, 1], [0, 0]]  # the group is a feature, and nobody's here
    assert "empty" not in from_people().report
    coded = read(tmp_path, kind, people, preprocessing="standardized")
    assert cells(coded, "sex")[2] == 0
    numbered = read(tmp_path, kind, people.assign(sex=[1, 0, None, 0, 1, 0]))
    assert numbered.groups.tolist() == [1, 0, -1, 0, 1, 0] and cells(numbered, "sex")[2] == 0
    online = read(tmp_path, kind, people, preprocessing="online")
    assert cells(online, "sex")[2] == 0 and np.isfinite(online.features).all()
    regression = read(tmp_path, kind, people.assign(hired=[1.5, None, 2, 3, 4, 5]), num_labels=1)
    np.testing.assert_array_equal(regression.labels, np.float32([1.5, np.nan, 2, 3, 4, 5]))
    assert stream.more(people.assign(hired=None)).labels.tolist() == [-1] * 6  # no label has come yet


def read(folder, kind, people, **options):
    options = {"label": "hired", "group": "sex", **options}
    if kind == "frame":
        return ar.Stream.from_dataframe(people, **options)
    path = folder / f"people.{kind}"
    if kind == "csv":
        people.to_csv(path, index=False)
        return ar.Stream.from_csv(path, **options)
    people.to_parquet(path)
    return ar.Stream.from_parquet(path, **options)


def test_a_model_learns_from_a_table_with_gaps():
    gaps = PEOPLE.assign(hired=["no", None, "yes", "no", "no", None], sex=["f", "m", "f", None, "f", "m"])
    stream = from_people(pd.concat([gaps] * 9))
    model = ar.Aranyani(num_trees=1, height=1)
    assert np.isfinite(model.predict_then_learn(stream.features, stream.labels, stream.groups)).all()


GAPS = PEOPLE.assign(age=[30, None, 40, 20, 35, 61], city=["Pune", "Lima", "Pune", None, "Oslo", "Lima"])


def test_empty_features_are_refused_or_left_out_or_filled():
    with pytest.raises(TableError, match=r"row 1: column 'age' of .*='skip' .* on_empty_cells='fill'"):
        from_people(GAPS)
    with pytest.warns(UserWarning, match="left out 2 rows"):
        assert len(from_people(GAPS, on_empty_cells="skip")) == 4
    filled = from_people(GAPS, on_empty_cells="fill")
    assert cells(filled, "age")[1] == 0 and not cells(filled, "city")[3].any()
    ages = GAPS["age"]
    np.testing.assert_allclose(cells(filled, "age").ravel(), ((ages - ages.mean()) / ages.std()).fillna(0), atol=1e-6)
    assert filled.report["empty"].to_dict() == {"age": 1, "city": 1, "sex": 0, "hired": 0}
    np.testing.assert_array_equal(filled.more(GAPS).features, filled.features)  # the rule stays


def test_filling_online_uses_what_was_seen_so_far():
    ages = pd.Series([None, 30, None, 50, 40, None])
    stream = from_people(PEOPLE.assign(age=ages), on_empty_cells="fill", preprocessing="online", scale=False)
    assert cells(stream, "age").ravel().tolist() == [0, 30, 30, 50, 40, 40]
    whole = from_people(PEOPLE.assign(age=ages), on_empty_cells="fill", preprocessing="online")
    complete = from_people(PEOPLE.assign(age=ages).dropna(), preprocessing="online")
    np.testing.assert_allclose(cells(whole, "age")[[1, 3, 4]], cells(complete, "age"), rtol=1e-6)
    assert not cells(whole, "age")[[0, 2, 5]].any()


def test_encode_has_the_option_that_it_advises():
    form = from_people().form
    with pytest.raises(TableError, match=r"row 1: column 'age' of .* is empty.*on_empty_cells='fill'") as told:
        form.encode(GAPS)
    assert "skip" not in str(told.value)
    features = form.encode(GAPS, on_empty_cells="fill")
    assert len(features) == 6 and features[1, 0] == 0
    with pytest.raises(ArgumentError, match="'raise', 'fill'; got 'skip'"):  # features without their rows
        form.encode(GAPS, on_empty_cells="skip")
    np.testing.assert_array_equal(from_people(GAPS, on_empty_cells="fill").form.encode(GAPS),
                                  from_people(GAPS, on_empty_cells="fill").features)


def test_encode_needs_no_group_unless_it_is_a_feature():
    stream = from_people(drop_group=True)
    np.testing.assert_array_equal(stream.form.encode(PEOPLE[["city", "age"]]), stream.features)
    form = from_people().form
    assert form.encode(PEOPLE.assign(sex=None))[:, -2:].sum() == 0
    with pytest.raises(TableError, match="no column 'sex'"):
        form.encode(PEOPLE[["city", "age"]])


def test_labels_of_minus_one_and_one_become_codes():
    stream = from_people(PEOPLE.assign(hired=[-1, 1, 1, -1, None, 1]))
    assert stream.labels.tolist() == [0, 1, 1, 0, -1, 1] and stream.label_names == ("-1", "1")


def test_a_category_that_a_gap_turned_into_a_float_is_still_itself():
    stream = from_people(PEOPLE.assign(city=[1, 2, 1, 3, 2, 1]), categorical=["city"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features = stream.form.encode(PEOPLE[:3].assign(city=[1, np.nan, 3]), on_empty_cells="fill")
    assert cells(stream, "city", features).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]


def test_options_are_those_of_the_stream_and_unknown_ones_are_named():
    for make in (ar.Stream.from_dataframe, ar.Stream.from_csv, ar.Stream.from_parquet):
        with pytest.raises(ArgumentError, match=r"no option 'drop_groups' for a table; there are: label, .*drop_group"):
            make(PEOPLE, label="hired", group="sex", drop_groups=True)
    with pytest.raises(ArgumentError, match="path of a CSV or Parquet file is needed, got dict"):
        from_people().more({"age": 3})
    for make in (ar.Stream.from_csv, ar.Stream.from_parquet):
        with pytest.raises(ArgumentError, match="path of a CSV or Parquet file is needed, got DataFrame"):
            make(PEOPLE, label="hired", group="sex")
