"""Labels and groups by name."""

import numpy as np
import pandas as pd
import pytest

from aranyani_tf.adapters.names import Names, all_or_none
from aranyani_tf.errors import ArgumentError, RowError


@pytest.mark.parametrize(("order", "codes"), [
    (["no", "yes"], [0, 1]), (["yes", "no"], [0, 1]), ([True, False], [1, 0]), ([1, 0], [1, 0]), ([0, 1], [0, 1]),
    ([1, 2], [1, 0]), ([2, 1], [0, 1]), ([-1, 1], [0, 1]), ([1, -1], [1, 0]), ([("f", 3), ("m", 3)], [0, 1]),
    ([np.True_, False], [1, 0]), ([np.int64(1), 0], [1, 0]),
    ([None, "a", float("nan"), pd.NA, "b"], [-1, 0, -1, -1, 1])])
def test_a_name_gets_the_first_free_code_and_a_whole_number_its_own_while_that_is_free(order, codes):
    one_by_one, at_once = Names("label", 2), Names("label", 2)
    assert [one_by_one.code(name) for name in order] == codes
    assert at_once.codes_of(order).tolist() == codes
    assert one_by_one.known == at_once.known


def test_where_there_is_true_there_is_false():
    for first in (True, False, np.False_):
        names = Names("label", 2)
        names.code(first)
        assert names.known == [False, True] and all(type(name) is bool for name in names.known)


@pytest.mark.parametrize("column", [
    pd.Series(["b", None, "a"]), pd.Series(["b", None, "a"], dtype="category"), np.array(["b", None, "a"], object),
    pd.Series(["b", pd.NA, "a"], index=[5, 5, 1], dtype="string"), ["b", None, "a"]])
def test_columns_of_all_kinds_have_codes_in_the_order_of_appearance(column):
    names = Names("group", 3)
    assert names.codes_of(column).tolist() == [0, -1, 1] and names.known == ["b", "a"]


def test_a_name_too_many_is_told_and_none_of_its_column_is_taken():
    groups, labels = Names("group", 2), Names("label", 2)
    groups.code("f")
    with pytest.raises(RowError, match=r"the group 'd' is new, and there is room for 2: 'f', 'm'.*num_groups=3"):
        take_all(labels, ["no", "yes"], groups, ["f", "m", "d"])
    assert groups.known == ["f"] and labels.known == [] and groups.code("x") == 1


def take_all(labels, new_labels, groups, new_groups):
    with all_or_none(labels, groups):
        labels.codes_of(new_labels)
        groups.codes_of(new_groups)


def test_names_that_are_given_are_all_there_are():
    names = Names("label", 2, ("yes", "no"))
    assert names.known == ["yes", "no"] and names.code("no") == 1
    with pytest.raises(RowError, match=r"'maybe'.*pass it among the labels"):
        names.code("maybe")
    with pytest.raises(ArgumentError, match="differ"):
        Names("label", 2, ("yes", "yes"))
    with pytest.raises(RowError, match="must be a name"):
        names.code(["yes"])
