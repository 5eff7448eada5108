"""Where machine code is kept, and that it is not made twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aranyani_tf.engine import compiler

# The module alone: the package would bring TensorFlow along, and the whole engine would take 20 seconds.
TINY = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("compiler", sys.argv[1])
compiler = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compiler)

@compiler.compiled
def twice(number):
    return 2 * number

print(json.dumps({"answer": twice(21), "folder": str(compiler.cache_folder()),
                  "hits": sum(twice.stats.cache_hits.values()), "misses": sum(twice.stats.cache_misses.values())}))
"""
ENGINE = """
import json
import aranyani_tf as ar
from aranyani_tf.engine.walk import walk

stream = ar.datasets.load("synthetic", num_rows=30, seed=0)
rows = stream.features, stream.labels, stream.groups
for dtype in ("float32", "float64"):
    model = ar.Aranyani(num_trees=1, height=2, seed=0, dtype=dtype, record_gradients=True)
    model.predict_then_learn(*rows)
    model.fit(stream, verbose=0)
    model.predict(rows[0])
    with model.live() as live:
        for x, y, a in zip(*rows):
            live.predict_then_learn(x, y, a)
            live.predict(list(x))
        live.learn(*rows)
        live.predict(rows[0])
print(json.dumps({"engine": model.engine, "kinds": len(walk.signatures), "hits": sum(walk.stats.cache_hits.values()),
                  "misses": sum(walk.stats.cache_misses.values())}))
"""


def run(program, *arguments, **environment):
    """What another process prints last."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | environment
    done = subprocess.run([sys.executable, program, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.py"
    path.write_text(TINY, encoding="utf-8")
    return lambda **environment: run(path, compiler.__file__, **{name: str(to) for name, to in environment.items()})


def index_files(folder):
    return list(Path(folder).rglob("*.nbi"))


def test_machine_code_is_kept_in_the_user_s_cache_and_found_there(tiny, tmp_path):
    home = {"HOME": tmp_path, "XDG_CACHE_HOME": tmp_path / "cache"}
    first, second = tiny(**home), tiny(**home)
    assert Path(first["folder"]).is_relative_to(tmp_path) and len(index_files(first["folder"])) == 1
    assert (first["answer"], first["hits"], first["misses"]) == (42, 0, 1)
    assert (second["answer"], second["hits"], second["misses"]) == (42, 1, 0)


def test_numba_cache_dir_is_honoured(tiny, tmp_path):
    found = tiny(NUMBA_CACHE_DIR=tmp_path / "mine", XDG_CACHE_HOME=tmp_path / "cache")
    assert Path(found["folder"]).parent == tmp_path / "mine" and len(index_files(tmp_path / "mine")) == 1
    assert not (tmp_path / "cache").exists()


def test_where_nothing_can_be_written_a_temporary_folder_will_do(tiny, tmp_path):
    """A file in a folder's place cannot be written into, not even by root."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    closed = tmp_path / "file" / "below"
    found = tiny(HOME=closed, XDG_CACHE_HOME=closed, NUMBA_CACHE_DIR=closed, TMPDIR=tmp_path / "temporary")
    assert found["answer"] == 42 and found["misses"] == 1
    assert Path(found["folder"]).is_relative_to(tmp_path / "temporary") and len(index_files(found["folder"])) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_will_do_too(tiny, tmp_path):
    closed, temporary = tmp_path / "closed", tmp_path / "temporary"
    temporary.mkdir()
    closed.mkdir(mode=0o500)
    found = tiny(HOME=closed, XDG_CACHE_HOME=closed, TMPDIR=temporary)
    assert found["answer"] == 42 and Path(found["folder"]).is_relative_to(temporary)


def test_the_folder_s_name_follows_the_sources(tmp_path, monkeypatch):
    before, package = compiler.digest(), Path(compiler.__file__).parents[1]
    sources = [*(package / "engine").glob("*.py"), package / "learning" / "losses.py"]
    for source in sources:
        copied = tmp_path / source.relative_to(package)
        copied.parent.mkdir(exist_ok=True)
        copied.write_bytes(source.read_bytes())
    monkeypatch.setattr(compiler, "__file__", str(tmp_path / "engine" / "compiler.py"))
    assert compiler.digest() == before
    for source in ("engine/cells.py", "learning/losses.py"):
        last = compiler.digest()
        (tmp_path / source).write_text("changed", encoding="utf-8")
        assert compiler.digest() != last


def test_the_engine_is_compiled_once_for_each_type_and_not_again_in_another_process(tmp_path):
    """However rows come; a read-only array, say, would be another type, and take another 20 seconds."""
    path = tmp_path / "engine.py"
    path.write_text(ENGINE, encoding="utf-8")
    root = str(Path(compiler.__file__).parents[2])
    found = run(path, PYTHONPATH=root)
    if found["misses"]:  # then it was the first process of all
        found = run(path, PYTHONPATH=root)
    assert found == {"engine": "numba", "kinds": 2, "hits": 2, "misses": 0}
