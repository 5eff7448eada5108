"""Files and options of the command that cannot be: one line, status 2, and nothing written."""

import json
import zipfile

import pytest

from aranyani_tf.command.main import main
from command_rows import people, run


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """(rows, the file of a run on them)."""
    folder = tmp_path_factory.mktemp("begun")
    people(60).to_csv(folder / "p.csv", index=False)
    run(folder / "p.csv", folder / "m.keras")
    return folder / "p.csv", folder / "m.keras"


def refused(capsys, *arguments):
    capsys.readouterr()
    assert main(list(map(str, arguments))) == 2
    told = capsys.readouterr().err
    assert told.startswith("aranyani: ") and "Traceback" not in told
    return told


def test_a_header_that_is_no_text_is_refused(tmp_path, capsys):
    (tmp_path / "p.csv").write_bytes("agé,séx,hiréd\n30,f,no\n".encode("latin-1"))
    assert "is no text" in refused(capsys, "run", tmp_path / "p.csv", "--label", "hired", "--group", "sex")


@pytest.mark.parametrize(("option", "value", "told"), [
    ("--out", "model", "name of a .keras file"), ("--separator", "age", "must be one mark"),
    ("--separator", "", "one mark")])
def test_an_option_that_cannot_be_is_refused(option, value, told, begun, tmp_path, capsys):
    found = refused(capsys, "run", begun[0], "--label", "hired", "--group", "sex", "--out", tmp_path / "m.keras",
                    option, value)
    assert told in found and not list(tmp_path.iterdir())


@pytest.mark.parametrize("changed", [
    {"rows_read": "60"}, {"rows_read": -1}, {"source": {}}, {"source": 3}, {"record": [[1]]}, {"settled": [1]},
    {"spacing": 0}, {"on_bad_rows": "no"}, {"first_bad": 7}], ids=str)
def test_a_run_that_cannot_have_been_is_refused_and_its_file_left(changed, begun, tmp_path, capsys):
    with zipfile.ZipFile(begun[1]) as old, zipfile.ZipFile(tmp_path / "m.keras", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "aranyani_run.json":
                content = json.dumps(json.loads(content) | changed).encode()
            new.writestr(name, content)
    before = (tmp_path / "m.keras").read_bytes()
    assert "damaged" in refused(capsys, "run", begun[0], "--resume", tmp_path / "m.keras", "--quiet")
    assert (tmp_path / "m.keras").read_bytes() == before
