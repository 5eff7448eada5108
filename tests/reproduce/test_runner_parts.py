"""Parts on disk: a damaged one is told and made again; a folder without room is noticed first."""

import resource

import pandas as pd
import pytest

import figure5
import figures
import forked
from aranyani_tf.errors import DamagedFileError
from harness import experiments, parts, runner

RECORDS = pd.DataFrame({"method": ["aranyani", "majority"], "accuracy": [0.123456789, 1.0], "decay": [None, 0.01]})


def test_a_part_comes_back_as_it_was_written(tmp_path):
    parts.write_part(tmp_path / "a.csv", RECORDS)
    found = parts.read_part(tmp_path / "a.csv")
    assert found.to_dict("list") == {"method": ["aranyani", "majority"], "accuracy": ["0.123457", "1"],
                                     "decay": ["", "0.01"]}
    assert parts.is_whole(tmp_path / "a.csv") and not parts.is_whole(tmp_path / "b.csv")


DAMAGES = {
    "a changed digit": lambda content: content.replace(b"0.123457", b"0.923457"),
    "a changed name": lambda content: content.replace(b"majority", b"minority"),
    "a row less": lambda content: content[: content.rindex(b"\n", 0, -1) + 1],
    "cut in a row": lambda content: content[:-3],
    "the last line end": lambda content: content[:-1],
    "emptied": lambda content: b"",
    "without its hash": lambda content: content.split(b"\n", 1)[1],
    "nothing but its hash": lambda content: content.split(b"\n", 1)[0] + b"\n",
    "no text": lambda content: content + b"\xff\xfe\x00",
    "other line ends": lambda content: content.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_told_and_not_used(tmp_path, damage):
    path = tmp_path / "a.csv"
    parts.write_part(path, RECORDS)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.raises(DamagedFileError, match=r"a\.csv is damaged"):
        parts.read_part(path)
    with pytest.warns(UserWarning, match=r"a\.csv is damaged.*its experiment is run again"):
        assert not parts.is_whole(path)


def test_a_run_makes_a_damaged_part_again_and_ends_with_the_same_bytes(tmp_path, monkeypatch):
    workers = forked.context()
    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda _: workers)
    grid = [experiments.Experiment("synthetic", (weight,), (0,), num_trees=1, height=1, rows=300)
            for weight in (0.1, 0.3)]
    options = {"results": tmp_path, "processes": 1, "progress": False}
    runner.run_all("small", grid, **options)
    whole, part = (tmp_path / "small.csv").read_bytes(), parts.part_of(grid[0], tmp_path)
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.warns(UserWarning, match=rf"{part.name} is damaged"):
        records = runner.run_all("small", grid, **options)
    assert records.attrs["num_run"] == 1 and (tmp_path / "small.csv").read_bytes() == whole
    assert not list(tmp_path.glob(".parts/.*"))  # neither a test file nor a rest


def test_a_folder_that_cannot_be_written_to_is_told_before_the_first_experiment(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(runner, "finished", lambda *_: pytest.fail("an experiment was begun"))
    for figure, message in ((figure5.FIGURE.main, "cannot be written to .*file/results: Not a directory.*--results"),
                            (figures.main, "cannot be written to .*file/results")):
        with pytest.raises(SystemExit, match=message):
            figure(["--tiny", "--no-wandb", "--results", str(tmp_path / "file" / "results")])


@pytest.mark.parametrize("room", [10_000, 1_000_000])  # none, and for the first few parts only
def test_a_full_disk_is_told_before_the_first_experiment(tmp_path, monkeypatch, room):
    monkeypatch.setattr(runner, "finished", lambda *_: pytest.fail("an experiment was begun"))
    grid = [experiments.Experiment("synthetic", (0.1,), (0,), num_trees=1, height=1, rows=300)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))  # no file may become larger
    try:
        with pytest.raises(OSError, match=r"cannot be written to .*: File too large"):
            runner.complete("small", grid, results=tmp_path, processes=1, progress=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.glob(".parts/*"))
