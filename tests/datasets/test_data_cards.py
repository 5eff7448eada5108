"""Every dataset has a card of the same shape, and what the card says is what the data has."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.datasets import shipped
from aranyani_tf.datasets.acs_employment import acs_employment_table
from aranyani_tf.datasets.tables import table
from fetched import NAMES as FETCHED
from fetched import members, skip_unless_fetched

CARDS = (Path(__file__).parents[2] / "docs" / "data_cards.md").read_text(encoding="utf-8")
FIELDS = ["Source", "Licence", "sha256", "Rows", "Features", "Label", "Groups", "Known flaws", "May not"]
TABULAR = ("adult", "census", "compas", *FETCHED)
GROUPINGS = {"acs_employment": ("race", "sex", "disability"), "bank": ("age", "marital"),
             "law": ("race", "races", "sex")}
GROUP_COLUMNS = {  # (dataset, groups) → the feature that tells the group
    ("adult", None): "gender", ("census", None): "sex", ("compas", None): "race", ("credit", None): "SEX",
    ("bank", "age"): "age", ("bank", "marital"): "marital", ("law", "sex"): "sex", ("law", "race"): "race",
    ("law", "races"): "race", ("acs_employment", "race"): "RAC1P", ("acs_employment", "sex"): "SEX",
    ("acs_employment", "disability"): "DIS"}


def card(name):
    text = re.search(rf"^## `{name}`\n(.+?)(?=^## |\Z)", CARDS, re.MULTILINE | re.DOTALL)[1]
    return dict(re.findall(r"^\| ([\w ]+) \| (.+) \|$", text, re.MULTILINE))


def test_every_dataset_has_one_card_and_all_cards_have_the_same_fields():
    assert sorted(re.findall(r"^## `(\w+)`$", CARDS, re.MULTILINE)) == ar.datasets.names()
    for name in ar.datasets.names():
        assert list(card(name)) == FIELDS, name


def test_the_cards_have_every_hash():
    for file, found in shipped.SHA256.items():
        name = next(name for name in ar.datasets.names() if file.startswith(name))
        assert found in card(name)["sha256"]
    for name in FETCHED:
        assert re.findall(r"[0-9a-f]{64}", card(name)["sha256"]) == list(members(name).values())


def rates_of(label, group):
    """As a card has them."""
    rates = label.groupby(group).agg(["size", "mean"])
    return "; ".join(f"{name}: {row['size']:,.0f} rows, {row['mean']:.1%}" for name, row in rates.iterrows()).replace(
        "%", " %")


@pytest.mark.parametrize("name", TABULAR)
def test_the_cards_tell_the_sizes_and_the_rates_of_the_tables(name):
    skip_unless_fetched(name)
    told = card(name)
    for groups in GROUPINGS.get(name, (None,)):
        found = table(name)
        frame = acs_employment_table(groups) if name == "acs_employment" else found.frame
        label = (frame[found.label] == max(frame[found.label].unique())).astype(float)
        column = found.group if groups in ("age", "race") and found.drop_group else GROUP_COLUMNS[name, groups]
        assert rates_of(label, frame[column]) in told["Groups"]
        num_features = frame.shape[1] - 1 - len(found.exclude) - found.drop_group
        assert told["Rows"] == f"{len(frame):,}" and told["Features"].startswith(f"{num_features};")
        assert f"{label.mean():.1%}".replace("%", " %") in told["Label"]


@pytest.mark.parametrize("groups", ["author", "religion"])
def test_the_card_of_the_comments_tells_sizes_and_rates(groups):
    stream, told = ar.datasets.load("wiki_toxicity", groups=groups), card("wiki_toxicity")
    names = pd.Categorical.from_codes(stream.groups, stream.group_names)
    assert rates_of(pd.Series(stream.labels), pd.Series(names)) in told["Groups"] and f"{len(stream):,}" in told["Rows"]


@pytest.mark.parametrize("name", TABULAR)
def test_without_the_group_its_column_is_gone_and_nothing_else_changes(name):
    skip_unless_fetched(name)
    for groups in GROUPINGS.get(name, (None,)):
        options = {"preprocessing": "one_hot", "order": range(0, 6000, 2)}
        if groups is not None:
            options["groups"] = groups
        whole, without = (ar.datasets.load(name, drop_group=drop, **options) for drop in (False, True))
        column = GROUP_COLUMNS[name, groups]
        kept = [feature for feature in whole.feature_names if feature.split("=")[0] != column]
        assert tuple(kept) == without.feature_names and len(kept) < whole.num_features
        places = [whole.feature_names.index(feature) for feature in kept]
        np.testing.assert_array_equal(whole.features[:, places], without.features)
        np.testing.assert_array_equal(whole.groups, without.groups)
        np.testing.assert_array_equal(whole.labels, without.labels)
