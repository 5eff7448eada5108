"""A run whose files were damaged, or that another one is writing, says so and changes nothing."""

import random
import zipfile

import pytest

from aranyani_tf.command.main import main
from aranyani_tf.command.one_run import alone
from command_rows import CHOSEN, people, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    people(5000).to_csv(folder / "people.csv", index=False)
    run(folder / "people.csv", folder / "m.keras", "--predictions", folder / "said.csv")
    return folder


def refused(folder, capsys):
    before = {path: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}
    assert main(["run", str(folder / "people.csv"), "--resume", str(folder / "m.keras"), "--quiet"]) == 2
    assert {path: path.read_bytes() for path in before} == before
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(bytes(content))


def test_a_changed_byte_of_any_member_is_told(folder, capsys):
    path, chance = folder / "m.keras", random.Random(0)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = {each.filename: each.header_offset + 80 + chance.randrange(each.file_size - 80)
                   for each in archive.infolist() if each.file_size > 80}
    assert {"aranyani_run.json", "config.json", "model.weights.h5"} == set(members)
    for place in (*members.values(), len(content) - 20):  # and the archive's own list
        flip(path, place)
        assert "m.keras is damaged" in (told := refused(folder, capsys)) and "copy" in told
        path.write_bytes(content)


def test_a_changed_byte_of_the_predictions_is_told(folder, capsys):
    content = (folder / "said.csv").read_bytes()
    flip(folder / "said.csv", 5000)
    assert "said.csv is not what the run has written: a byte" in refused(folder, capsys)
    (folder / "said.csv").write_bytes(content)


def test_a_second_run_to_the_same_file_is_refused(folder, capsys):
    with alone(folder / "m.keras"):
        assert "another run writes to" in refused(folder, capsys)
        assert main(["run", str(folder / "people.csv"), *CHOSEN, "--out", str(folder / "m.keras"), "--predictions",
                     str(folder / "said.csv"), "--overwrite"]) == 2
    capsys.readouterr()


def test_a_full_disk_is_told_with_the_file(folder, tmp_path, capsys, monkeypatch):
    from aranyani_tf.command import predictions

    class Full:
        def write(self, content):
            raise OSError(28, "No space left on device")

        def close(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(predictions, "open", lambda *_: Full(), raising=False)
    assert main(["run", str(folder / "people.csv"), *CHOSEN, "--out", str(tmp_path / "m.keras"), "--predictions",
                 str(tmp_path / "said.csv")]) == 2
    assert f"{tmp_path / 'said.csv'}: No space left on device" in capsys.readouterr().err
