"""Files that are whole or not there: killed writers, links, permissions, the disk."""

import contextlib
import functools
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from aranyani_tf import files

WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from files import whole_file
with whole_file(sys.argv[2]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
    file.write(b" and half")
"""


@contextlib.contextmanager
def another_writer(path):
    """A process that is in the middle of writing `path`; gives the process and the names of its part and its lock."""
    before = set(path.parent.iterdir())
    writer = subprocess.Popen([sys.executable, "-c", WRITER, os.path.dirname(files.__file__), path],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"writing\n"
        lock, part = sorted(set(path.parent.iterdir()) - before)
        assert lock.name.startswith(".lock-") and part.name.startswith(".part-") and part.read_bytes() == b"half"
        yield writer, part, lock
    finally:
        writer.kill()
        writer.communicate()


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_removes_its_rest(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_bytes(b"old")
    with another_writer(path) as (_, part, lock):
        pass
    assert path.read_bytes() == b"old" and part.exists() and lock.exists()
    with files.whole_file(path) as file:
        file.write(b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["numbers.csv"] and path.read_bytes() == b"new"


def test_the_part_of_a_living_writer_in_another_process_is_left_alone(tmp_path):
    path = tmp_path / "numbers.csv"
    with another_writer(path) as (writer, part, lock):
        for content in (b"new", b"newer"):
            with files.whole_file(path) as file:
                file.write(content)
            assert set(tmp_path.iterdir()) == {path, part, lock} and path.read_bytes() == content
        assert part.read_bytes() == b"half"
        writer.communicate(b"go on\n")
        assert writer.returncode == 0 and path.read_bytes() == b"half and half"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["part", "lock"])
def test_either_half_of_what_a_killed_writer_leaves_is_removed(tmp_path, kind):
    """A lock alone: killed before it wrote, or when it was done. A part alone: its lock never reached the disk."""
    (tmp_path / f".{kind}-{16 * 'a'}-numbers.csv").write_bytes(b"")
    (tmp_path / f".{kind}-{16 * 'a'}-my-numbers.csv").write_bytes(b"another file's")
    with files.whole_file(tmp_path / "numbers.csv") as file:
        file.write(b"1")
    assert {each.name for each in tmp_path.iterdir()} == {"numbers.csv", f".{kind}-{16 * 'a'}-my-numbers.csv"}


def test_locks_do_not_pile_up_whether_writing_ends_well_or_not(tmp_path):
    for count in range(5):
        with contextlib.suppress(KeyError), files.whole_file(tmp_path / "numbers.csv") as file:
            file.write(b"1")
            if count % 2:
                raise KeyError
    assert [each.name for each in tmp_path.iterdir()] == ["numbers.csv"]


def test_many_writers_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "numbers.csv"

    def write(number):
        for _ in range(20):
            with files.whole_file(path) as file:
                file.write(100 * bytes([number]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    content = path.read_bytes()
    assert len(content) == 100 and len(set(content)) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_to_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    (tmp_path / "numbers.csv").write_bytes(b"old")
    really_open = os.open

    def refuse(name, flags, *mode):  # as if the folder were read-only; the user may be root, whom nothing stops
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied", str(name))
        return really_open(name, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: .*numbers") as caught, \
            files.whole_file(tmp_path / "numbers.csv"):
        pass
    assert caught.value.filename == str(tmp_path / "numbers.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["numbers.csv"]
    assert (tmp_path / "numbers.csv").read_bytes() == b"old"


def test_a_folder_that_cannot_be_synced_is_no_error(tmp_path, monkeypatch):
    sync = files.sync

    def only_files(path):
        if path.is_dir():
            raise OSError("not for a folder")
        sync(path)

    monkeypatch.setattr(files, "sync", only_files)
    with files.whole_file(tmp_path / "numbers.csv") as file:
        file.write(b"1")
    assert (tmp_path / "numbers.csv").read_bytes() == b"1"


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

    def guessed(num_bytes, kind):
        (tmp_path / f".{kind}-{16 * '0'}-numbers.csv").symlink_to(victim)
        return 16 * "0"

    for kind in ("part", "lock"):
        monkeypatch.setattr(files.secrets, "token_hex", functools.partial(guessed, kind=kind))
        with pytest.raises(OSError), files.whole_file(path) as file:  # noqa: PT011  of different kinds
            file.write(b"over it")
        assert victim.read_bytes() == b"precious" and path.read_bytes() == b"numbers"
        (tmp_path / f".{kind}-{16 * '0'}-numbers.csv").unlink(missing_ok=True)
    assert set(tmp_path.iterdir()) == {path, victim}


def test_strange_names_beside_a_file_are_left_alone(tmp_path):
    strange = [".part-x-numbers.csv", f".part-1-{16 * 'a'}-numbers.csv", f".part-{17 * 'a'}-numbers.csv",
               f".part-{16 * 'a'}-my-numbers.csv", f".lock-{16 * 'a'}-numbers.csv.gz"]
    for name in strange:
        (tmp_path / name).write_bytes(b"not ours")
    (tmp_path / f".part-{16 * 'b'}-numbers.csv").mkdir()
    with files.whole_file(tmp_path / "numbers.csv") as file:
        file.write(b"1")
    assert {each.name for each in tmp_path.iterdir()} == {
        *strange, "numbers.csv", f".part-{16 * 'b'}-numbers.csv"}


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


def test_a_folder_takes_the_place_of_the_one_before_and_nothing_is_left_beside_it(tmp_path):
    for content in ("old", "new"):
        with files.whole_folder(tmp_path / "model") as part:
            (part / "deep").mkdir(parents=True)
            (part / "deep" / content).write_text(content)
            assert not (tmp_path / "model" / "deep" / content).exists()
        assert [each.name for each in (tmp_path / "model" / "deep").iterdir()] == [content]
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_was_not_finished_leaves_the_one_before(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").write_text("old")

    def interrupted():
        with files.whole_folder(tmp_path / "model") as part:
            part.mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [each.name for each in tmp_path.iterdir()] == ["model"] and (tmp_path / "model" / "old").exists()
    part = tmp_path / f".part-{16 * 'a'}-model"  # as a killed writer leaves it
    (part / "model").mkdir(parents=True)
    (tmp_path / f".lock-{16 * 'a'}-model").touch()
    with files.whole_folder(tmp_path / "model") as part:
        part.mkdir()
    assert [each.name for each in tmp_path.iterdir()] == ["model"] and not (tmp_path / "model" / "old").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_folder_that_cannot_get_its_name_leaves_the_one_before(tmp_path, monkeypatch, error):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").write_text("old")
    rename = os.rename

    def only_away(old, new):
        if new == tmp_path / "model" and not old.name.endswith("-before"):
            raise error
        rename(old, new)

    monkeypatch.setattr(os, "rename", only_away)
    with pytest.raises(type(error)), files.whole_folder(tmp_path / "model") as part:
        part.mkdir()
    assert [each.name for each in tmp_path.iterdir()] == ["model"] and (tmp_path / "model" / "old").exists()


def test_a_folder_whose_writer_was_killed_between_two_renamings_is_put_back(tmp_path):
    part = tmp_path / f".part-{16 * 'a'}-model"
    for name in ("model", "model-before"):
        (part / name).mkdir(parents=True)
        (part / name / name).touch()
    (tmp_path / f".lock-{16 * 'a'}-model").touch()
    files.remove_left_overs_in(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["model"] and (tmp_path / "model" / "model-before").exists()


def test_what_a_killed_writer_of_a_part_left_is_removed_too(tmp_path):
    """As a run that saves its model into the file that it is writing."""
    program = ("import os, signal, sys\nsys.path.insert(0, sys.argv[1])\nfrom files import whole_path\n"
               "with whole_path(sys.argv[2]) as part, whole_path(part) as inner:\n"
               "    inner.write_bytes(b'half'); os.kill(os.getpid(), signal.SIGKILL)\n")
    command = [sys.executable, "-c", program, os.path.dirname(files.__file__), str(tmp_path / "a.keras")]
    assert subprocess.run(command).returncode == -9
    assert len(list(tmp_path.iterdir())) == 3  # two locks, and what was written
    with files.whole_path(tmp_path / "a.keras") as part, files.whole_path(part) as inner:
        inner.write_bytes(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a.keras"]


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(OSError, match=r"No space left on device: .*numbers\.csv") as caught, \
            files.whole_file(tmp_path / "numbers.csv"):
        raise OSError(28, "No space left on device")  # as `write` has it
    assert caught.value.errno == 28 and list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match=r"No space left on device: '.*/numbers\.csv'"), \
            files.whole_path(tmp_path / "numbers.csv") as part, files.whole_file(part):
        raise OSError(28, "No space left on device")



def test_all_that_killed_writers_left_in_a_folder_is_removed_but_not_what_lives(tmp_path):
    token = "0123456789abcdef"
    for name in (f".lock-{token}-a.csv", f".part-{token}-b.json", f".lock-{token}-.part-{token}-c.keras", ".own-file"):
        (tmp_path / name).write_bytes(b"")
    with files.whole_file(tmp_path / "d") as file:
        files.remove_left_overs_in(tmp_path)
        file.write(b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".own-file", "d"]
