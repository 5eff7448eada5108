"""Live models by site in one process, and their checkpoints; no Ray."""

import errno
import zipfile
from pathlib import Path

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError, DamagedFileError, InUseError, RowError
from aranyani_tf.scale import Sites
from aranyani_tf.scale.checkpoints import Checkpoints
from aranyani_tf.scale.keeper import Keeper, Place, checked

STREAM = ar.datasets.load("synthetic", num_rows=300, seed=2)


def make(site):
    return ar.Aranyani(num_trees=1, height=2, fairness_weight=0.1, seed=len(site))


def rows(first, end):
    part = STREAM[first:end]
    return part.features, part.labels, part.groups


def undisturbed(site, end):
    model = make(site)
    with model.live() as live:
        live.learn(*rows(0, end))
        return live.predict(STREAM.features)


def test_a_successor_goes_on_from_the_checkpoint_to_the_same_bits(tmp_path):
    keeper = Keeper(make, tmp_path, save_every=100)
    assert keeper.learn("Oslo", 0, *rows(0, 120)) == Place(120, 120)
    assert keeper.learn("Oslo", 120, *rows(120, 200)) == Place(200, 120)
    successor = Keeper(make, tmp_path, save_every=100)  # the first one has died
    assert successor.predict("Oslo", STREAM.features, learned=200) is None
    assert successor.learn("Oslo", 200, *rows(200, 300)) == Place(120, 120)  # it has not learned what comes before
    assert successor.learn("Oslo", 120, *rows(120, 200)) == Place(200, 120)
    assert successor.learn("Oslo", 120, *rows(120, 200)) == Place(200, 120)  # sent twice, learned once
    assert successor.learn("Oslo", 150, *rows(150, 300)) == Place(300, 300)
    np.testing.assert_array_equal(successor.predict("Oslo", STREAM.features, learned=300), undisturbed("Oslo", 300))
    assert [path.name for path in tmp_path.glob("*.keras")] == ["Oslo@000000000300.keras"]


def test_rows_that_are_refused_leave_no_trace(tmp_path):
    keeper = Keeper(make, tmp_path, save_every=10)
    keeper.learn("Oslo", 0, *rows(0, 50))
    features, labels, groups = rows(50, 60)
    with pytest.raises(RowError):
        keeper.learn("Oslo", 50, features, labels, groups + 7)
    assert keeper.place("Oslo") == Place(50, 50)
    keeper.learn("Oslo", 50, *rows(50, 60))
    np.testing.assert_array_equal(keeper.predict("Oslo", STREAM.features), undisturbed("Oslo", 60))


def test_a_checkpoint_that_cannot_be_written_refuses_its_rows(tmp_path, monkeypatch):
    keeper = Keeper(make, tmp_path, save_every=50)
    keeper.learn("Oslo", 0, *rows(0, 50))
    with monkeypatch.context() as patch:
        def full(*_, **__):
            raise OSError(errno.ENOSPC, "no space left on device")

        patch.setattr("os.replace", full)
        with pytest.raises(OSError, match="no space"):
            keeper.learn("Oslo", 50, *rows(50, 100))
    assert keeper.place("Oslo") == Place(50, 50)
    keeper.learn("Oslo", 50, *rows(50, 100))
    np.testing.assert_array_equal(keeper.predict("Oslo", STREAM.features), undisturbed("Oslo", 100))


def test_any_name_is_a_file_s_own(tmp_path):
    keeper = Keeper(make, tmp_path, save_every=1)
    names = ["a", "a@1", "..", "a/b", "Åre", "a*"]
    for number, name in enumerate(names, start=1):
        keeper.learn(name, 0, *rows(0, number))
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.sites() == sorted(names)
    assert [checkpoints.offset(name) for name in names] == [1, 2, 3, 4, 5, 6]
    for name in ("", 7, "x" * 201):
        with pytest.raises(ArgumentError, match="site's name"):
            keeper.learn(name, 0, *rows(0, 1))


def test_a_kill_between_writing_and_removing_leaves_the_newer_one(tmp_path):
    keeper = Keeper(make, tmp_path, save_every=10)
    keeper.learn("Oslo", 0, *rows(0, 10))
    old = (tmp_path / "Oslo@000000000010.keras").read_bytes()
    keeper.learn("Oslo", 10, *rows(10, 20))
    (tmp_path / "Oslo@000000000010.keras").write_bytes(old)
    assert Checkpoints(tmp_path).offset("Oslo") == 20


def test_a_damaged_checkpoint_is_told(tmp_path):
    keeper = Keeper(make, tmp_path, save_every=10)
    keeper.learn("Oslo", 0, *rows(0, 10))
    file = tmp_path / "Oslo@000000000010.keras"
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(DamagedFileError, match=r"Oslo@000000000010\.keras .*'Oslo' begins again"):
        Keeper(make, tmp_path, save_every=10).place("Oslo")
    file.write_bytes(content)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("../evil.py", "print('evil')")
    with pytest.raises(DamagedFileError, match="outside of it"):
        Keeper(make, tmp_path, save_every=10).place("Oslo")


def test_a_disk_that_cannot_be_read_for_a_while_does_not_make_a_checkpoint_a_damaged_one(tmp_path, monkeypatch):
    keeper = Keeper(make, tmp_path, save_every=10)
    keeper.learn("Oslo", 0, *rows(0, 10))
    for place in ("zipfile.ZipFile.testzip", "keras.saving.load_model"):
        with monkeypatch.context() as patch:
            def failing(*_, **__):
                raise OSError(errno.EIO, "Input/output error")

            patch.setattr(place, failing)
            with pytest.raises(OSError, match="Input/output error"):
                Keeper(make, tmp_path, save_every=10).place("Oslo")
    assert Keeper(make, tmp_path, save_every=10).place("Oslo") == Place(10, 10)


@pytest.mark.parametrize(("label", "group"), [(1, [0]), ([1], 0), (1, 0), ([0, 1], [0, 1])])
def test_some_rows_need_some_labels_and_groups(label, group):
    with pytest.raises(RowError, match=r"'Oslo' must be \(row, feature\)"):
        checked("Oslo", [[0.1, 0.2]], label, group)
    assert [column.shape for column in checked("Oslo", [0.1, 0.2], 1, 0)] == [(1, 2), (1,), (1,)]


def test_wrong_settings_are_refused_before_anything_begins(tmp_path):
    with pytest.raises(ArgumentError, match="save_every"):
        Sites(make, tmp_path, save_every=0)
    with pytest.raises(ArgumentError, match="function of a site's name"):
        Sites("model", tmp_path)
    with pytest.raises(ArgumentError, match="'auto', 'local'"), Sites(make, tmp_path, ray=""):
        pass
    with pytest.raises(ArgumentError, match=r"no Ray cluster answers at '127\.0\.0\.1:1'"), \
            Sites(make, tmp_path, ray="127.0.0.1:1"):
        pass
    with pytest.raises(InUseError, match="not open"):
        Sites(make, tmp_path).learn("Oslo", *rows(0, 1))
    with pytest.raises(ArgumentError, match="gave NoneType"):
        Keeper(lambda site: None, Path(tmp_path), save_every=10).place("Oslo")
