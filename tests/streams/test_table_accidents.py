"""Accidents with tables: files that change, marks for people, headers twice, options of the wrong kind."""

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, TableError
from aranyani_tf.streams import table_rows as tabular

ROLES = {"label": "y", "group": "a"}
ROWS = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "a": [0, 1, 0, 1], "y": [1, 0, 0, 1]})


@pytest.mark.parametrize("num_rows", [2, 8])
def test_a_file_that_shrinks_or_grows_while_it_is_read_is_told(tmp_path, monkeypatch, num_rows):
    path = tmp_path / "rows.csv"

    def between_the_passes(table, counted):
        pd.concat([ROWS, ROWS])[:num_rows].to_csv(path, index=False)
        return counted

    ROWS.to_csv(path, index=False)
    stream = ar.Stream.from_csv(path, **ROLES)
    monkeypatch.setattr(tabular, "require_rows", between_the_passes)
    with pytest.raises(TableError, match=r"rows\.csv changed while it was read; try again"):
        ar.Stream.from_csv(path, **ROLES)
    ROWS.to_csv(path, index=False)
    with pytest.raises(TableError, match=r"rows\.csv changed while it was read; try again"):
        stream.more(path)


@pytest.mark.parametrize(("cells", "decimal", "advice"), [
    (["1,234", "12,500", "999", "7"], ".", "these may be thousands marks: take them out first"),
    (["1,234.5", "-12,500", "1,000,000", "7"], ".", "these may be thousands marks: take them out first"),
    (["1.234,5", "12.500", "999", "7"], ",", "these may be thousands marks: take them out first"),
    (["1,234", "12,5", "999", "7"], ".", "decimal=','"), (["0,125", "1,250", "2", "7"], ".", "decimal=','"),
    (["1.234", "12.5", "999", "7"], ",", r"decimal='\.'")])
def test_thousands_marks_are_not_taken_for_decimal_marks(tmp_path, cells, decimal, advice):
    path = tmp_path / "rows.csv"
    ROWS.assign(x=cells).to_csv(path, index=False, sep=";")
    with pytest.raises(TableError, match=rf"column 'x' of .* numbers such as .*{advice}.*categorical=\['x'\]") as told:
        ar.Stream.from_csv(path, separator=";", decimal=decimal, **ROLES)
    assert ("thousands marks" in str(told.value)) == ("thousands marks" in advice)


@pytest.mark.parametrize(("option", "wrong"), [
    ({"drop_group": "False"}, "drop_group must be True or False"), ({"scale": "no"}, "scale must be True or False"),
    ({"exclude": None}, "exclude must be a name or a list of names, got None"),
    ({"exclude": 5}, "exclude must be a name or a list of names, got 5"),
    ({"categorical": 5}, "categorical must be a name or a list"), ({"empty": None}, "empty must be a name or a list")])
def test_options_of_the_wrong_kind_are_refused_by_name(option, wrong):
    with pytest.raises(ArgumentError, match=wrong):
        ar.Stream.from_dataframe(ROWS, **ROLES, **option)


CITIES = ROWS.assign(x=pd.Categorical([1, 3, 1, 3]))


def test_later_rows_whose_category_is_empty_everywhere_are_filled():
    stream = ar.Stream.from_dataframe(CITIES, drop_group=True, on_empty_cells="fill", **ROLES)
    nothing = CITIES.assign(x=pd.Categorical([None] * 4))
    assert not stream.form.encode(nothing).any() and not stream.more(nothing).features.any()


@pytest.mark.parametrize("dtype", [object, "float64", "float32", "Float32", "category"])
def test_a_category_that_is_a_whole_number_is_the_same_in_every_type_with_a_gap(dtype):
    stream = ar.Stream.from_dataframe(CITIES, drop_group=True, on_empty_cells="fill", **ROLES)
    later = CITIES.assign(x=pd.Series([1.0, None, 3.0, 1.0], dtype=dtype))
    np.testing.assert_array_equal(stream.form.encode(later), [[1, 0], [0, 0], [0, 1], [1, 0]])


@pytest.mark.parametrize(("header", "options", "named"), [
    ("x,y ,a,y", {}, "'y'"), ("y ,x,a,y", {}, "'y'"), ("NA,NA,a,y", {"empty": ["NA"]}, "'NA'")])
def test_a_name_that_is_there_twice_is_seen_behind_spaces_and_words_for_empty_cells(tmp_path, header, options, named):
    path = tmp_path / "twice.csv"
    path.write_text(f"{header}\n1,0,1,0\n2,1,0,1\n3,1,1,0\n")
    with pytest.raises(TableError, match=f"twice.csv has more than one column {named}"):
        ar.Stream.from_csv(path, **ROLES, **options)
