"""Files with rows that cannot be used: they are counted and told, and the model is that of the other rows."""

import io
import json
import sys

import pandas as pd
import pytest

from aranyani_tf.command.main import main
from aranyani_tf.command.run_file import load_run
from command_rows import CHOSEN, assert_same_model, people, run

GOOD = people(3000)
NAMED = ("--labels", "no,yes", "--groups", "f,m")
# What is wrong → the row as it lies in a CSV file, and a part of the sentence about it.
BAD = {"too few fields": (b"30,Pune,f", "it has 3 fields, the header 5"),
       "too many fields": (b"30,Pune,f,0.5,no,no", "it has 6 fields, the header 5"),
       "a word for a number": (b"thirty,Pune,f,0.5,no", "column 'age'"),
       "a number that is none": (b"nan,Pune,f,0.5,no", "column 'age'"),
       "a number that never ends": (b"inf,Pune,f,0.5,no", "column 'age'"),
       "a number for programmers": (b"3_0,Pune,f,0.5,no", "column 'age'"),
       "an empty cell": (b"30,,f,0.5,no", "column 'city'"),
       "an unknown label": (b"30,Pune,f,0.5,perhaps", "'perhaps'"),
       "an unknown group": (b"30,Pune,x,0.5,no", "'x'"),
       "no UTF-8": (b"30,P\xfcne,f,0.5,no", "no text in UTF-8")}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    GOOD.to_csv(folder / "people.csv", index=False)
    run(folder / "people.csv", folder / "m.keras", *NAMED)
    return load_run(folder / "m.keras")[0]


def lines_with(bad, places=(7, 1000, 2500)):
    """A CSV file with a bad line in some places."""
    lines = GOOD.to_csv(index=False).encode().splitlines()
    for place in reversed(places):
        lines.insert(place + 1, bad)
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("what", BAD)
def test_the_model_is_that_of_the_other_rows(tmp_path, good, what, capsys):
    bad, sentence = BAD[what]
    (tmp_path / "people.csv").write_bytes(lines_with(bad))
    run(tmp_path / "people.csv", tmp_path / "m.keras", *NAMED, "--predictions", tmp_path / "said.csv")
    tabular, state = load_run(tmp_path / "m.keras")
    assert_same_model(tabular, good)
    assert (state.num_bad, state.rows_read) == (3, 3003)
    told = capsys.readouterr().out
    assert "skipped 3 of 3,003 rows; the first: row 7: " in told and sentence in told
    rows = pd.read_csv(tmp_path / "said.csv")["row"].tolist()
    assert rows == [row for row in range(3003) if row not in (7, 1001, 2502)]


@pytest.mark.parametrize("what", BAD)
def test_or_it_stops_at_the_first(tmp_path, what, capsys):
    """With its number, what is wrong with it, and the way out; nothing is saved."""
    bad, sentence = BAD[what]
    (tmp_path / "people.csv").write_bytes(lines_with(bad, (2999,)))
    argv = ["run", str(tmp_path / "people.csv"), *CHOSEN, *NAMED, "--out", str(tmp_path / "m.keras")]
    assert main([*argv, "--on-bad-rows", "raise"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("aranyani: ") and told.count("\n") == 1 and not (tmp_path / "m.keras").exists()
    assert "row 2,999: " in told and "--on-bad-rows skip" in told and sentence in told


def test_bad_lines_of_json(tmp_path, good, monkeypatch, capsys):
    lines = GOOD.to_json(orient="records", lines=True, double_precision=15).splitlines()
    row = {"age": 30, "city": "Pune", "sex": "f", "score": 0.5, "hired": "no"}
    bad = ["{not json", "[1, 2]", json.dumps(row | {"age": "thirty"}), json.dumps(row | {"city": ["Pune"]}),
           json.dumps({name: row[name] for name in ("age", "sex", "score", "hired")})]
    lines[50:50] = bad
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(("\n".join(lines) + "\n\n").encode())))
    run("-", tmp_path / "m.keras", *NAMED, "--format", "jsonl")
    tabular, state = load_run(tmp_path / "m.keras")
    assert_same_model(tabular, good)
    assert state.num_bad == 5 and "row 50: it is no JSON" in capsys.readouterr().out


def test_empty_cells_can_be_filled_and_words_can_stand_for_them(tmp_path):
    GOOD.assign(score=GOOD["score"].mask(GOOD["age"] < 30)).to_csv(tmp_path / "people.csv", index=False, na_rep="NA")
    run(tmp_path / "people.csv", tmp_path / "m.keras", "--empty", "NA", "--on-empty-cells", "fill")
    tabular, state = load_run(tmp_path / "m.keras")
    assert state.num_bad == 0 and tabular.so_far()["rows"] == 3000 and tabular.form.kinds["score"] == "numbers"


def test_rows_without_a_label_or_a_group_are_no_bad_rows(tmp_path):
    rows = GOOD.assign(hired=GOOD["hired"].mask(GOOD["age"] == 40), sex=GOOD["sex"].mask(GOOD["age"] == 41))
    rows.to_csv(tmp_path / "people.csv", index=False)
    run(tmp_path / "people.csv", tmp_path / "m.keras", "--predictions", tmp_path / "said.csv")
    tabular, state = load_run(tmp_path / "m.keras")
    assert state.num_bad == 0 and tabular.so_far()["rows"] == 3000
    said = pd.read_csv(tmp_path / "said.csv")
    assert said["label"].isna().sum() == (GOOD["age"] == 40).sum()
    assert said["group"].isna().sum() == (GOOD["age"] == 41).sum()


def test_decimal_commas_and_semicolons(tmp_path, good):
    GOOD.to_csv(tmp_path / "people.csv", index=False, sep=";", decimal=",")
    run(tmp_path / "people.csv", tmp_path / "m.keras", *NAMED, "--separator", ";", "--decimal", ",")
    assert_same_model(load_run(tmp_path / "m.keras")[0], good)


def test_a_quotation_mark_without_an_end_does_not_end_the_run(tmp_path, capsys):
    lines = people(9000).to_csv(index=False).splitlines()
    lines[6000] = '30,"Pune,f,0.5,no'
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(tmp_path / "people.csv", tmp_path / "m.keras")
    state = load_run(tmp_path / "m.keras")[1]
    assert state.num_bad >= 1 and "row 5,999: " in state.first_bad
