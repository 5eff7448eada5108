"""Archives from elsewhere, and which ways of reading run code: none is used but River's protocol."""

import ast
import io
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.archives import require_members, require_safe

ROOT = Path(__file__).parents[1]
SOURCES = [path for folder in ("aranyani_tf", "reproduce", "benchmarks", "trials", "examples")
           for path in (ROOT / folder).rglob("*.py")] + [ROOT / "setup.py", ROOT / "aranyani_command.py"]
# The code of a page of the docs is run to put its output there: it is the repository's own.
EXCEPTIONS = {("reproduce/prepare/own_tables.py", "exec"), ("reproduce/prepare/own_tables.py", "compile"),
              ("trials/fuzz_documents.py", "np.save with allow_pickle")}  # bad files, which nobody here unpickles
MODULES = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def dangers(path):
    """What in a source would run code out of data."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            yield node.module
        elif isinstance(node, ast.Call):
            name, given = ast.unparse(node.func), {each.arg: ast.unparse(each.value) for each in node.keywords}
            if name in ("eval", "exec", "compile", "__import__"):
                yield name
            if name in ("np.load", "numpy.load") and given.get("allow_pickle") != "False":
                yield "np.load without allow_pickle=False"
            if name.endswith("np.save") and given.get("allow_pickle", "False") != "False":
                yield "np.save with allow_pickle"
            if name == "torch.load" and given.get("weights_only") != "True":
                yield "torch.load without weights_only"
            if name.endswith(("read_pickle", "to_pickle", "enable_unsafe_deserialization")) or name in (
                    "yaml.load", "yaml.unsafe_load", "yaml.full_load"):
                yield name
            if given.get("safe_mode", "True") != "True":
                yield "safe_mode=False"


def test_no_source_reads_data_in_a_way_that_runs_code():
    found = {(path.relative_to(ROOT).as_posix(), danger) for path in SOURCES for danger in dangers(path)}
    assert found == EXCEPTIONS


@pytest.mark.parametrize("line", [
    "import pickle", "from joblib import load", "eval('1')", "np.load('x')", "np.load('x', allow_pickle=True)",
    "torch.load('x')", "yaml.load(text)", "pd.read_pickle('x')", "keras.saving.load_model('x', safe_mode=False)"])
def test_such_a_line_would_be_found(line, tmp_path):
    (tmp_path / "x.py").write_text(line, encoding="utf-8")
    assert list(dangers(tmp_path / "x.py"))


def packed(path, *members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil", "a/../../b", "C:\\evil", "a\\b"])
def test_a_member_that_names_a_place_outside_is_refused(name, tmp_path):
    with pytest.raises(ar.errors.DamagedFileError, match="outside"):
        require_safe(packed(tmp_path / "a.zip", (name, b"evil")), "zip file")


def test_an_archive_that_would_unpack_to_more_than_it_should_is_refused(tmp_path):
    bomb = packed(tmp_path / "a.zip", ("a", b"\0" * 50_000_000), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ar.errors.DamagedFileError, match="50,000,000 bytes"):
        require_safe(bomb, "zip file")
    require_safe(bomb, "zip file", times=2000)


def test_members_that_are_missing_or_there_twice_or_damaged_are_told(tmp_path):
    path = packed(tmp_path / "a.zip", ("a", b"12345678"))
    with pytest.raises(ar.errors.DamagedFileError, match="no member 'b'; it has a"):
        require_safe(path, "zip file", required=["b"])
    with pytest.raises(ar.errors.DamagedFileError, match="two members 'a'"):
        require_safe(packed(tmp_path / "b.zip", ("a", b"1"), ("a", b"2")), "zip file")
    path.write_bytes(path.read_bytes().replace(b"12345678", b"12345679"))
    with pytest.raises(ar.errors.DamagedFileError, match=r"damaged: its member 'a'"):
        require_safe(path, "zip file")
    path.write_bytes(b"no zip at all")
    with pytest.raises(ar.errors.DamagedFileError, match="no zip file"):
        require_safe(path, "zip file")


def test_an_archive_of_many_members_is_looked_through_in_no_time():
    began = time.process_time()
    require_members("a.zip", [f"folder/{number}" for number in range(30_000)], ())
    assert time.process_time() - began < 3  # to compare each with each takes some fifteen


def test_an_npz_file_with_a_pickle_in_it_is_refused(tmp_path):
    file = io.BytesIO()
    np.savez(file, features=np.zeros((2, 3), "float16"), labels=np.array([0, 1], object), groups=np.array([0, 1]))
    (tmp_path / "e.npz").write_bytes(file.getvalue())
    with pytest.raises(ar.errors.DamagedFileError, match="allow_pickle"):
        ar.datasets.load("celeba", embeddings=tmp_path / "e.npz")
