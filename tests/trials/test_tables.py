"""A part of a trial leaves the committed table, its hash and its run as they are."""

import pandas as pd

from harness.provenance import Clock
from trials import tables


def test_a_part_has_a_file_of_its_own_and_is_no_run_of_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    table, clock = pd.DataFrame({"outcome": ["same bytes"]}), Clock()
    for is_part, given in ((True, None), (True, tmp_path / "faults.csv"), (False, tmp_path / "elsewhere" / "a.csv")):
        tables.write(table, tables.place_of("faults", is_part, given), clock, is_part=is_part, seed=0)
    assert {path.name for path in tmp_path.iterdir()} == {"faults_quick.csv", "faults.csv", "elsewhere"}
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["a.csv"]
    tables.write(table, tables.place_of("faults", False), clock, is_part=False, seed=0)
    assert (tmp_path / "environment.json").is_file() and "faults.csv" in (tmp_path / "sha256sums.txt").read_text()
