"""Files that are whole or not there: killed writers, links, permissions, the disk."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from aranyani_tf import files

WRITER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from files import whole_file
with whole_file(sys.argv[2]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_removes_its_rest(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_bytes(b"old")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, os.path.dirname(files.__file__), path],
                              stdout=subprocess.PIPE)
    writer.stdout.readline()
    with files.whole_file(path) as file:  # the other is alive: its part stays
        file.write(b"new")
    assert len(list(tmp_path.iterdir())) == 2 and path.read_bytes() == b"new"
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    assert path.read_bytes() == b"new" and len(list(tmp_path.iterdir())) == 2
    with files.whole_file(path) as file:
        file.write(b"newer")
    assert [each.name for each in tmp_path.iterdir()] == ["numbers.csv"] and path.read_bytes() == b"newer"


def test_an_error_while_writing_leaves_the_old_file_and_no_part(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_bytes(b"old")

    def interrupted():
        with files.whole_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [each.name for each in tmp_path.iterdir()] == ["numbers.csv"] and path.read_bytes() == b"old"


def test_no_name_can_be_guessed_and_a_link_there_is_not_followed(tmp_path, monkeypatch):
    path, victim = tmp_path / "numbers.csv", tmp_path / "victim"
    victim.write_bytes(b"precious")
    names = []
    for _ in range(2):
        with files.whole_path(path) as part:
            names.append(part.name)
            part.write_bytes(b"numbers")
    assert names[0] != names[1]
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: 16 * "0")  # as if somebody had guessed it
    planted = tmp_path / f".part-{os.getpid()}-{16 * '0'}-numbers.csv"
    planted.symlink_to(victim)
    with pytest.raises(FileExistsError), files.whole_file(path) as file:
        file.write(b"over it")
    assert victim.read_bytes() == b"precious" and path.read_bytes() == b"numbers"


def test_strange_names_beside_a_file_are_left_alone(tmp_path):
    strange = [".part-x-numbers.csv", f".part-{10**30}-{16 * 'a'}-numbers.csv", f".part-1-{16 * 'a'}-my-numbers.csv"]
    for name in strange:
        (tmp_path / name).write_bytes(b"not ours")
    (tmp_path / f".part-999999999-{16 * 'b'}-numbers.csv").mkdir()
    with files.whole_file(tmp_path / "numbers.csv") as file:
        file.write(b"1")
    assert {each.name for each in tmp_path.iterdir()} == {
        *strange, "numbers.csv", f".part-999999999-{16 * 'b'}-numbers.csv"}


def test_a_new_file_has_the_permissions_of_an_ordinary_one_and_an_old_one_keeps_its_own(tmp_path):
    before = os.umask(0o027)
    try:
        with files.whole_file(tmp_path / "new") as file:
            file.write(b"1")
        (tmp_path / "ordinary").write_bytes(b"1")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "ordinary").stat().st_mode
    (tmp_path / "new").chmod(0o600)
    with files.whole_file(tmp_path / "new") as file:
        file.write(b"2")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_the_content_reaches_the_disk_before_the_name_and_then_the_folder(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda one: (done.append(os.readlink(f"/proc/self/fd/{one}")), sync(one)))
    monkeypatch.setattr(os, "replace", lambda old, new: (done.append("renamed"), replace(old, new)))
    with files.whole_file(tmp_path / "a.csv", "w") as file:
        file.write("λ")
    part, renamed, folder = done
    assert os.path.basename(part).startswith(".part-") and renamed == "renamed" and folder == str(tmp_path)
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "λ"


def test_two_writers_of_one_file_do_not_get_into_each_other_s_way(tmp_path):
    with files.whole_file(tmp_path / "a") as first, files.whole_file(tmp_path / "a") as second:
        first.write(b"first")
        second.write(b"second")
    assert (tmp_path / "a").read_bytes() == b"first" and len(list(tmp_path.iterdir())) == 1
