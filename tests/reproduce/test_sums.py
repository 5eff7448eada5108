"""results/sha256sums.txt: a CSV that was changed is told by whoever computes from it."""

import runpy
import shutil
import sys
from pathlib import Path

import pytest

from aranyani_tf.errors import DamagedFileError
from harness import RESULTS, provenance, sums

SCRIPTS = Path(__file__).parents[2] / "reproduce"


def test_every_committed_csv_has_its_sum():
    known = sums.read_sums(RESULTS)
    assert set(known) == {path.name for path in RESULTS.glob("*.csv") if "_quick" not in path.name}, "run `make sums`"
    sums.require_sums(RESULTS)


@pytest.fixture
def folder(tmp_path):
    for name in ("matched.csv", "table1.csv"):
        shutil.copy(RESULTS / name, tmp_path)
    sums.note_sums(tmp_path, ["matched", "table1", "nothing"])
    return tmp_path


def change(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def test_a_changed_byte_is_told_and_what_nobody_entered_is_not_asked(folder):
    sums.require_sums(folder)
    (folder / "own.csv").write_text("mine")
    change(folder / "matched.csv")
    with pytest.raises(DamagedFileError, match=r"matched\.csv is not what its.*`make matched`.*git checkout"):
        sums.require_sums(folder)
    (folder / "matched.csv").unlink()
    sums.require_sums(folder)  # one that is missing is told by whoever reads it


def test_a_run_enters_what_it_has_written(folder):
    change(folder / "table1.csv")
    provenance.write_environment(folder / "environment.json", ["table1"], provenance.Clock())
    sums.require_sums(folder)
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("script", ["claims", "report", "paired"])
def test_a_script_that_reads_a_changed_csv_ends_with_a_sentence(folder, script, monkeypatch):
    change(folder / "matched.csv")
    monkeypatch.setattr(sys, "argv", [f"{script}.py", "--results", str(folder)])
    with pytest.raises(SystemExit, match=r"matched\.csv is not what its run has left"):
        runpy.run_path(str(SCRIPTS / f"{script}.py"), run_name="__main__")
