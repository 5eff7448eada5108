"""Tables of one's own: types, encodings, the report, orders, and what is refused."""

import dataclasses
import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river.preprocessing import StandardScaler

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams import table_reader as tables
from aranyani_tf.streams import table_rows as tabular
from aranyani_tf.streams.moments import RunningMoments
from aranyani_tf.streams.table_options import TableOptions

PEOPLE = pd.DataFrame({
    "age": [30, 50, 40, 20, 35, 61], "city": ["Pune", "Lima", "Pune", "NA", "Oslo", "Lima"],
    "sex": ["f", "m", "f", "m", "f", "m"], "hired": ["no", "yes", "yes", "no", "no", "yes"]})


def write(path, frame=PEOPLE):
    frame.to_csv(path, index=False)
    return path


def from_people(frame=PEOPLE, **options):
    return ar.Stream.from_dataframe(frame, **{"label": "hired", "group": "sex", **options})


def test_a_csv_gives_what_its_frame_gives(tmp_path):
    for options in ({}, {"preprocessing": "online"}, {"preprocessing": "standardized", "drop_group": True}):
        stream = ar.Stream.from_csv(write(tmp_path / "people.csv"), label="hired", group="sex", **options)
        frame = from_people(**options)
        np.testing.assert_array_equal(stream.features, frame.features)
        np.testing.assert_array_equal(stream.labels, [0, 1, 1, 0, 0, 1])
        np.testing.assert_array_equal(stream.groups, [0, 1, 0, 1, 0, 1])
        assert stream.label_names == ("no", "yes") and stream.feature_names == frame.feature_names
    assert "city=NA" in from_people().feature_names  # a word, not an empty cell


def test_large_files_go_through_a_temporary_file_in_pieces(tmp_path, monkeypatch):
    rows = pd.DataFrame({"x": np.arange(1000) % 7, "c": np.arange(1000) % 3, "a": np.arange(1000) % 2,
                         "y": np.arange(1000) % 5 == 0}).astype({"c": str})
    path = write(tmp_path / "rows.csv", rows)
    expected = ar.Stream.from_csv(path, label="y", group="a", categorical=["c"])
    monkeypatch.setattr(tabular, "IN_MEMORY", 0)
    monkeypatch.setattr(tables, "PIECE", 64)
    stream = ar.Stream.from_csv(path, label="y", group="a", categorical=["c"])
    assert isinstance(stream.features.base, np.memmap)
    np.testing.assert_allclose(stream.features, expected.features, atol=1e-6)
    np.testing.assert_array_equal(stream.labels, expected.labels)
    ar.Aranyani(num_trees=1, height=1).fit(stream, verbose=0)


def test_online_preprocessing_never_looks_ahead():
    rows = pd.DataFrame({"x": np.random.default_rng(0).normal(size=500).cumsum(),
                         "c": [f"city {number % 11}" for number in range(500)],
                         "a": np.arange(500) % 2, "y": np.arange(500) % 3 == 0})
    options = {"label": "y", "group": "a", "preprocessing": "online"}
    before = ar.Stream.from_dataframe(rows, **options).features
    for first in (1, 100, 499):
        changed = rows.copy()
        changed.loc[first:, "x"] = 1e6
        changed.loc[first:, "c"] = "a new town"
        after = ar.Stream.from_dataframe(changed, **options).features
        np.testing.assert_array_equal(after[:first], before[:first])
        assert np.abs(after[first] - before[first]).max() > 0
    shorter = ar.Stream.from_dataframe(rows[:300], **options).features
    np.testing.assert_array_equal(shorter, before[:300])


def test_the_other_ways_do_look_ahead():
    for preprocessing in ("standardized", "one_hot"):
        changed = PEOPLE.assign(age=[30, 50, 40, 20, 35, 99])
        difference = from_people(preprocessing=preprocessing).features - from_people(
            changed, preprocessing=preprocessing).features
        assert np.abs(difference[0]).max() > 0


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=40), st.integers(1, 40), st.floats(-1e5, 1e5))
def test_running_moments_equal_river_s_scaler_wherever_the_pieces_end(values, size, offset):
    scaler, expected = StandardScaler(), []
    values = np.round(np.array(values), 2) + np.round(offset)
    for value in values:
        scaler.learn_one({"x": value})
        expected.append(scaler.transform_one({"x": value})["x"])
    moments, scaled = RunningMoments(1), []
    for start in range(0, len(values), size):
        piece = values[start : start + size, None]
        means, deviations = moments.update(piece)
        scaled.extend(((piece - means) / np.where(deviations > 0, deviations, 1))[:, 0])
    if np.ptp(values) > 0.1:  # below, it is rounding divided by rounding
        np.testing.assert_allclose(scaled[-1], expected[-1], atol=1e-4)


def test_orders():
    stream = ar.datasets.load("adult")
    majority, minority = (stream.labels == 0).sum(), (stream.labels == 1).sum()
    hard = stream.adversarial("majority")
    cut = round(0.9 * majority)
    assert not hard.labels[:cut].any() and hard.labels[cut : cut + minority].all()
    assert not hard.labels[cut + minority :].any() and len(hard) == len(stream)
    np.testing.assert_array_equal(hard.features[:cut], stream.features[stream.labels == 0][:cut])
    reverse = stream.adversarial("minority")
    cut = round(0.9 * minority)
    assert reverse.labels[:cut].all() and not reverse.labels[cut : cut + majority].any()

    small = stream[:1000]
    shuffled = small.shuffled(seed=3)
    np.testing.assert_array_equal(shuffled.features, small.shuffled(seed=3).features)
    assert not np.array_equal(shuffled.features, small.shuffled(seed=4).features)
    np.testing.assert_array_equal(np.sort(shuffled.features, axis=0), np.sort(small.features, axis=0))
    assert len(small.fraction(0.25)) == 250 and len(small.fraction(0.25, seed=1)) == 250
    np.testing.assert_array_equal(small.fraction(0.25).features, small.features[:250])
    rest, aside = small.held_out(0.1, seed=0)
    assert (len(rest), len(aside)) == (900, 100)
    joined = np.concatenate([rest.features, aside.features])
    np.testing.assert_array_equal(np.sort(joined, axis=0), np.sort(small.features, axis=0))
    for wrong in (0, -1, 1.5):
        with pytest.raises(ValueError, match="share"):
            small.fraction(wrong)
    with pytest.raises(ValueError, match="labels 0 and 1"):
        small[small.labels == 0].adversarial()


@pytest.mark.parametrize(("change", "options", "message"), [
    ({}, {"label": "hire"}, r"no column 'hire' in .*; there are: age, city, sex, hired"),
    ({}, {"group": "gender"}, r"no column 'gender' in .*there are"),
    ({}, {"exclude": ["name"]}, r"no column 'name'"),
    ({}, {"categorical": ["town"]}, r"no column 'town'"),
    ({"hired": "no"}, {}, r"label column 'hired' has only one value, no"),
    ({"sex": ["f", "m", "f", "x", "f", "m"]}, {}, r"group column 'sex' has 3 values \(f, m, x\) where 2 are expected; "
                                                  r"pass num_groups=3"),
    ({"age": [30, None, 40, 20, 35, 61]}, {}, r"row 1: column 'age' of .* is empty.*on_empty_cells='skip'"),
    ({"city": ["Pune", "Lima", "", "", "", ""]}, {}, r"row 2: column 'city' of .* is empty"),
    ({"hired": [None] * 6}, {}, r"label column 'hired' has no value"),
    ({"age": [30, np.inf, 40, 20, 35, 61]}, {}, r"row 1: column 'age' of .* is 'inf', not a number"),
    ({"city": list("abcdef")}, {"max_categories": 2}, r"column 'city' has more than 2 categories.*exclude=\['city'\]"),
    ({}, {"label": "sex"}, r"label and group are both column 'sex'"),
    ({}, {"preprocessing": "scaled"}, r"preprocessing must be one of 'released'"),
    ({}, {"exclude": ["age", "city", "sex"]}, r"no column left for the features"),
    ({}, {"num_labels": 1}, r"must hold numbers for regression"),
    ({"age": [30, "NA", 40, 20, 35, 61]}, {}, r"column 'age' of .* holds numbers, but also 'NA'.*empty=\['NA'\]"),
    ({"age": [30, 1e200, 40, 20, 35, 61]}, {}, r"row 1: column 'age' .* is '1e\+200', not a number of less than"),
])
def test_a_csv_that_cannot_be_used_says_why(tmp_path, change, options, message):
    path = write(tmp_path / "people.csv", PEOPLE.assign(**change))
    with pytest.raises(ValueError, match=message):
        ar.Stream.from_csv(path, **{"label": "hired", "group": "sex", **options})


def test_rows_with_empty_cells_can_be_left_out_and_three_groups_kept(tmp_path):
    people = PEOPLE.assign(age=[30, None, 40, 20, 35, 61], sex=["f", "m", "x", "x", "f", "m"])
    options = {"label": "hired", "group": "sex", "on_empty_cells": "skip", "num_groups": 3}
    with pytest.warns(UserWarning, match=r"left out 1 rows of .* with an empty cell; 5 remain"):
        stream = ar.Stream.from_csv(write(tmp_path / "people.csv", people), **options)
    with pytest.warns(UserWarning, match="left out 1 rows"):
        named = ar.Stream.from_csv(write(tmp_path / "people.csv", people.fillna("none")), empty=["none"], **options)
    np.testing.assert_array_equal(stream.features, named.features)
    assert len(stream) == 5 and stream.group_names == ("f", "m", "x")
    regression = from_people(label="age", num_labels=1)
    assert regression.num_labels == 1 and regression.labels.tolist() == PEOPLE["age"].tolist()


def test_a_number_that_turns_into_a_word_far_down_the_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "PIECE", 3)
    path = write(tmp_path / "people.csv", PEOPLE.assign(age=[30, 50, 40, 20, "old", 61]))
    with pytest.raises(ValueError, match=r"row 4: column 'age' of .* is 'old', not a number.*categorical"):
        ar.Stream.from_csv(path, label="hired", group="sex")


def test_truth_values_stay_what_they_are_when_a_later_piece_has_an_empty_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "PIECE", 3)
    people = PEOPLE.assign(hired=[True, False, True, False, None, True], sex=[1.0, 0, 1, None, 0, 0])
    with pytest.warns(UserWarning, match="left out 2 rows"):
        stream = ar.Stream.from_csv(write(tmp_path / "people.csv", people), label="hired", group="sex",
                                    on_empty_cells="skip")
    assert stream.labels.tolist() == [1, 0, 1, 1] and stream.groups.tolist() == [1, 0, 1, 0]


def test_odd_frames():
    """Numbers as names, categories that nobody has, mixed types, an index with holes."""
    odd = PEOPLE.assign(city=pd.Categorical(PEOPLE["city"], categories=["Rome", *set(PEOPLE["city"])]))
    np.testing.assert_array_equal(from_people(odd).features, from_people().features)
    np.testing.assert_array_equal(from_people(PEOPLE.set_index([[9, 4, 4, 1, 0, 7]])).features, from_people().features)
    numbered = PEOPLE.set_axis([0, "self", 2, 3], axis=1)
    assert ar.Stream.from_dataframe(numbered, label=3, group=2, exclude="self").feature_names == ("0", "2=f", "2=m")
    mixed = PEOPLE.assign(city=["Pune", 3, "Pune", "a", 3, True])
    assert "city=3" in from_people(mixed).feature_names
    assert from_people(PEOPLE.assign(age=PEOPLE["age"].astype(object))).feature_names == from_people().feature_names
    with pytest.raises(ValueError, match="more than one column 'age'"):
        from_people(pd.concat([PEOPLE, PEOPLE[["age"]]], axis=1))
    with pytest.raises(ArgumentError, match="DataFrame is needed, got dict"):
        from_people({"age": [1]})


def test_a_stream_scaled_row_by_row_may_not_be_reordered():
    stream = ar.datasets.load("adult", preprocessing="online")
    for reorder in (stream.shuffled, stream.adversarial, lambda: ar.Grove(fairness_weights=[0.1], seeds=[0]).fit(
            stream, shuffle=True)):
        with pytest.raises(ValueError, match=r"would look ahead.*order="):
            reorder()
    order = np.random.default_rng(0).permutation(len(stream))
    reordered = ar.datasets.load("adult", preprocessing="online", order=order)
    np.testing.assert_array_equal(reordered.labels, stream.labels[order])
    np.testing.assert_array_equal(reordered.features[0], 0)  # the first row has nothing to be compared with


def test_files_that_are_not_csv_are_refused(tmp_path):
    options = {"label": "y", "group": "a"}
    with pytest.raises(FileNotFoundError, match=r"no file .*nothing.csv"):
        ar.Stream.from_csv(tmp_path / "nothing.csv", **options)
    for content in (b"", b"\x89PNG\r\n\x1a\n\xff\xfe\x00", b"y,a\n1,0\n1,0,3,4\n"):
        path = tmp_path / "wrong.csv"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"wrong.csv (cannot be read as a CSV|has no)|no column"):
            ar.Stream.from_csv(path, **options)
    for name in ("wrong.csv.gz", "wrong.csv.zip", "wrong.csv.xz"):
        (tmp_path / name).write_text("y,a\n1,0\n")
        with pytest.raises(ValueError, match=f"{name} cannot be read"):
            ar.Stream.from_csv(tmp_path / name, **options)
    (tmp_path / "shifted.csv").write_text("x,a,y\n101,5.5,0,1\n102,6.5,1,0\n")
    with pytest.raises(ValueError, match=r"shifted.csv cannot be read.*Length of header"):
        ar.Stream.from_csv(tmp_path / "shifted.csv", **options)
    (tmp_path / "head.csv").write_text("x,a,y\n")
    with pytest.raises(ValueError, match="has no rows"):
        ar.Stream.from_csv(tmp_path / "head.csv", **options)


@pytest.mark.parametrize("preprocessing", ["one_hot", "standardized", "online"])
def test_more_rows_are_encoded_as_the_first_ones_were(tmp_path, preprocessing):
    """Rows that were there before get the features that they had; other rows the same scale."""
    first, rest = PEOPLE[:4], PEOPLE[[True, True, False, False, False, False]]
    stream = from_people(first, preprocessing=preprocessing)
    expected = stream.features[:2]
    if preprocessing == "online":  # it goes on where it stood
        expected = from_people(pd.concat([first, rest, rest]), preprocessing=preprocessing).features[4:]
        before = stream.form.encode(rest.drop(columns="hired"))  # says what they would have, and stays where it is
        with pytest.raises(ValueError, match="maybe"):
            stream.more(rest.assign(hired="maybe"))  # refused, so not counted either
        np.testing.assert_array_equal(stream.more(rest).features, before)
        found = np.concatenate([before, stream.form.encode(rest)])
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        return
    form = pickle.loads(pickle.dumps(stream.form))
    np.testing.assert_array_equal(form.encode(rest[["city", "age", "sex"]]), expected)
    ages = first["age"]
    older = form.encode(rest.assign(age=99))[:, stream.feature_names.index("age")]
    np.testing.assert_allclose(older, (99 - ages.mean()) / ages.std(), rtol=1e-6)
    for source in (rest, write(tmp_path / "rest.csv", rest)):
        more = stream[:2].more(source)
        np.testing.assert_array_equal(more.features, expected)
        np.testing.assert_array_equal((more.labels, more.groups), (stream.labels[:2], stream.groups[:2]))
        assert more.feature_names == stream.feature_names and more.label_names == ("no", "yes")


@pytest.mark.parametrize(("change", "named"), [
    ({"city": "Rome"}, "row 0: column 'city' has the new category 'Rome'"),
    ({"hired": "maybe"}, "row 0: label column 'hired' has the new value 'maybe'; known are no, yes"),
    ({"sex": "x"}, "'sex' has the new"), ({"age": "old"}, "row 0: column 'age' of .* is 'old', not a number"),
    ({"city": None}, "row 0: column 'city' of .* is empty")], ids=str)
def test_more_rows_that_do_not_fit_are_named(change, named):
    with pytest.raises(TableError, match=named):
        from_people(unknown="raise").more(PEOPLE[:1].assign(**change))
    with pytest.raises(ValueError, match="no column 'age'"):
        from_people().more(PEOPLE.drop(columns="age"))
    with pytest.raises(ValueError, match="does not come from a table"):
        ar.datasets.load("synthetic", num_rows=10).more(PEOPLE)


@pytest.mark.parametrize("function", [ar.Stream.from_dataframe, ar.Stream.from_csv, ar.Stream.from_parquet])
def test_help_tells_every_option_of_a_table_once(function):
    arguments = inspect.getdoc(function).partition("Args:")[2]
    told = [name for line in arguments.splitlines() if (found := re.match(r"    ([\w, ]+): ", line))
            for name in found[1].split(", ")]
    for option in dataclasses.fields(TableOptions):
        assert told.count(option.name) == 1, option.name
