"""Credit card defaults and law school: their columns, order and groups, against the files of the package."""

import zipfile
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.datasets.packaged import package_member
from aranyani_tf.datasets.tables import table
from fetched import skip_unless_fetched


def path_of(name):
    skip_unless_fetched(name)
    module = import_module(f"aranyani_tf.datasets.{name}")
    return package_member(*module.PACKAGE, *module.MEMBER)


def in_units(column):
    return (column - column.mean()) / column.std()


def test_credit_has_the_columns_of_the_file_in_its_order_with_names_for_codes():
    rows = pd.read_csv(path_of("credit"))
    stream = ar.datasets.load("credit")
    assert repr(stream) == "Stream('credit', 30,000 rows, 33 features, 2 labels, 2 groups)"
    np.testing.assert_array_equal(stream.labels, rows["default-payment-next-month"])
    np.testing.assert_array_equal(stream.groups, 1 - rows["SEX"])  # the file has women as 1
    assert stream.group_names == ("Female", "Male") and np.bincount(stream.groups).tolist() == [18_112, 11_888]
    ours = pd.DataFrame(stream.features, columns=stream.feature_names)
    for name, column in (("EDUCATION=university", "EDUCATION_2"), ("EDUCATION=code 0", "EDUCATION_0"),
                         ("EDUCATION=code 6", "EDUCATION_6"), ("MARRIAGE=married", "MARRIAGE_1"),
                         ("MARRIAGE=others", "MARRIAGE_3")):
        np.testing.assert_array_equal(ours[name], rows[column])
    for name in ("LIMIT_BAL", "AGE", "PAY_0", "PAY_6", "BILL_AMT1", "PAY_AMT6"):
        np.testing.assert_allclose(ours[name], in_units(rows[name]), atol=1e-4)
    assert "ID" not in ours and ar.datasets.load("credit", preprocessing="released").num_features == 23
    assert "SEX" not in ar.datasets.load("credit", preprocessing="online", drop_group=True).feature_names
    last_first = ar.datasets.load("credit", order=np.arange(30_000)[::-1])
    np.testing.assert_array_equal(last_first.labels, stream.labels[::-1])


def test_law_has_white_or_not_or_eight_races_or_sex_as_the_groups():
    with zipfile.ZipFile(path_of("law")) as archive:
        rows = pd.read_csv(archive.open("law.csv"))
    stream = ar.datasets.load("law")
    assert repr(stream) == "Stream('law', 21,791 rows, 13 features, 2 labels, 2 groups)"
    np.testing.assert_array_equal(stream.labels, rows["PF_1"])
    np.testing.assert_array_equal(stream.groups, rows["Race_White"])
    ours = pd.DataFrame(stream.features, columns=stream.feature_names)
    races = [name for name in rows if name.startswith("Race_")]
    np.testing.assert_array_equal(ours[[name.replace("Race_", "race=") for name in races]], rows[races])
    np.testing.assert_array_equal(ours["sex=Female"], rows["Sex_1"])
    for name in ("LSAT", "UGPA", "ZFYA"):
        np.testing.assert_allclose(ours[name], in_units(rows[name]), atol=1e-5)
    by_sex = ar.datasets.load("law", groups="sex", drop_group=True, preprocessing="released")
    np.testing.assert_array_equal(by_sex.groups, rows["Sex_2"])
    assert by_sex.group_names == ("Female", "Male") and by_sex.feature_names == ("LSAT", "UGPA", "ZFYA", "race")
    of_eight = ar.datasets.load("law", groups="races", first_year_grades=False, order=range(10, 4000))
    assert [f"Race_{name}" for name in of_eight.group_names] == races and "ZFYA" not in of_eight.feature_names
    np.testing.assert_array_equal(of_eight.groups, rows[races].to_numpy()[10:4000].argmax(axis=1))
    with pytest.raises(ValueError, match="groups must be one of"):
        ar.datasets.load("law", groups="age")


@pytest.mark.parametrize("name", ["credit", "law"])
def test_as_tables_they_learn_to_the_same_features(name):
    skip_unless_fetched(name)
    found, stream = table(name), ar.datasets.load(name)
    own = ar.Stream.from_dataframe(found.frame, label=found.label, group=found.group, exclude=found.exclude,
                                   drop_group=found.drop_group, preprocessing="one_hot")
    assert own.feature_names == stream.feature_names and own.group_names == stream.group_names
    np.testing.assert_array_equal(own.features, stream.features)
