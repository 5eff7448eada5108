"""Verdicts follow from the numbers: every one can be traced, and a tampered file changes its verdict."""

import re
import shutil

import pandas as pd
import pytest

import claims
from harness import RESULTS
from harness.intervals import Interval
from ledger import all_claims
from ledger.claim import HOLDS, NOT, OPEN, PART, VERDICTS, negative, positive, within
from ledger.results_data import Results

COMMITTED = RESULTS / "claims.csv"


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(COMMITTED)


def test_there_are_enough_claims_and_each_says_where_it_comes_from(table):
    assert len(table) >= 45 and table["id"].is_unique and set(table["verdict"]) <= set(VERDICTS)
    assert sum(place.startswith(("Section 4", "Appendix A")) for place in table["place"]) >= 9
    for row in table.itertuples():
        files = re.findall(r"\b([a-z_0-9]+)\.csv", row.computed_from)
        named = files or "aranyani_tf.theory" in row.computed_from or row.verdict == "cannot be tested here"
        assert named and all((RESULTS / f"{name}.csv").is_file() for name in files), row.id
    assert list(table["id"]) == [each.id for each in all_claims()]


def test_the_committed_verdicts_are_what_the_committed_files_give(table):
    found = claims.judged(Results(RESULTS), progress=False)
    assert found[["id", "verdict", "ours"]].equals(table[["id", "verdict", "ours"]])
    page = (RESULTS / "claims.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("| ")] == [
        line for line in claims.as_page(table).splitlines() if line.startswith("| ")]


@pytest.mark.parametrize(("name", "claim_id", "tamper"), [
    ("figure12", "held-out-weight-controls", lambda frame: frame.assign(held_out_demographic_parity=0.1 + 0.001 * frame[
        "fairness_weight"] + 0.0001 * frame["seed"])),
    ("table2", "trees-fastest", lambda frame: frame.assign(
        seconds=frame["seconds"].where(frame["method"] != "HT", 1e-3), seconds_std=1e-6)),
    ("memory", "reservoir-memory", lambda frame: frame.assign(peak_megabytes=frame["peak_megabytes"].where(
        frame["contender"] == "aranyani", 10.0))),
    ("figure4", "accuracy-rises-with-height", lambda frame: frame.assign(accuracy=0.9 - 0.01 * frame["height"]
                                                                         + 0.0001 * frame["seed"]))])
def test_a_tampered_file_changes_its_verdict(tmp_path, table, name, claim_id, tamper):
    for path in RESULTS.glob("*.csv"):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / f"{name}.csv").unlink()
    tamper(pd.read_csv(RESULTS / f"{name}.csv", low_memory=False)).to_csv(tmp_path / f"{name}.csv", index=False)
    (judge,) = (each.judge for each in all_claims() if each.id == claim_id)
    before = table.set_index("id").loc[claim_id, "verdict"]
    assert judge(Results(tmp_path)).verdict != before


def test_a_missing_file_is_told_with_the_command_that_makes_it(tmp_path, monkeypatch, capsys):
    for path in RESULTS.glob("*.csv"):
        if path.stem != "vanishing":
            shutil.copy(path, tmp_path)
    monkeypatch.setattr("sys.argv", ["claims.py", "--results", str(tmp_path)])
    few = [each for each in all_claims() if "vanishing" in each.computed_from]
    monkeypatch.setattr(claims, "all_claims", lambda: few)
    with pytest.raises(SystemExit, match=r"vanishing\.csv is missing: `make vanishing` makes it"):
        claims.main()


def test_a_verdict_is_decided_by_the_interval_alone():
    assert [positive(Interval(1, low, high)) for low, high in ((0.1, 2), (-1, 2), (-2, -0.1))] == [HOLDS, OPEN, NOT]
    assert negative(Interval(-1, -2, -0.5)) == HOLDS and positive(Interval(1, float("nan"), float("nan"))) == OPEN
    assert [within(Interval(0, low, high), 1) for low, high in ((-0.5, 0.5), (0.5, 1.5), (1.5, 2))] == [
        HOLDS, OPEN, NOT]


def test_the_score_counts_every_claim_once(table):
    numbers = [int(number) for number in re.findall(r"\d+", claims.score(table))]
    assert numbers[0] == len(table) == sum(numbers[1:])
    altered = table.assign(verdict=table["verdict"].where(table.index > 0, PART))
    assert claims.score(altered) != claims.score(table.assign(verdict=table["verdict"].where(table.index > 0, HOLDS)))
