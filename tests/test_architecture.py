"""docs/architecture.md: the committed picture and tables are those of the imports, and every station is there."""

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import aranyani_tf as ar
from prepare import architecture
from prepare.architecture_picture import picture

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
AGAIN = "run `make architecture`"


@pytest.fixture(scope="module")
def parts():
    return architecture.read_parts()


def test_the_picture_is_current(parts):
    assert (PAGE.parent / "architecture.svg").read_text(encoding="utf-8") == picture(parts, architecture.GROUND), AGAIN


def test_the_tables_are_current(parts):
    text = PAGE.read_text(encoding="utf-8")
    assert text == architecture.page(text, parts), AGAIN
    assert "(architecture.svg)" in text


def test_each_folder_is_a_box_and_says_what_it_is_for(parts):
    for part in parts:
        folders = {path.parent.name for path in (ROOT / part.name).glob("*/*.py")}
        assert folders <= set(part.boxes) and all(part.purposes[folder] for folder in folders)


def made(folder, **files):
    """A small project: file → its imports."""
    for name, lines in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""What {name} is for."""\n{lines}\n', encoding="utf-8")
    for inner in ({path.parent for path in folder.rglob("*.py")} | {folder / "aranyani_tf"}) - {folder / "reproduce"}:
        (inner / "__init__.py").write_text(f'"""The folder {inner.name}."""\n', encoding="utf-8")
    return architecture.read_parts(folder)


def test_arrows_are_the_imports_in_all_their_forms(tmp_path):
    package, scripts = made(
        tmp_path, aranyani_tf__errors="import numpy", aranyani_tf__forest__tree="from aranyani_tf import errors",
        aranyani_tf__fairness__means="def late():\n    from aranyani_tf.forest.tree import Tree",
        aranyani_tf__grove="import aranyani_tf.fairness.means", reproduce__quiet="import os",
        reproduce__harness__runs="import aranyani_tf as ar",
        reproduce__figure1="from harness import runs\nimport quiet")
    assert package.imports == {"single files": set(), "forest": {"single files"}, "fairness": {"forest"},
                               "grove": {"fairness"}}
    assert package.layers() == [["forest"], ["fairness"], ["grove"]]
    assert scripts.imports == {"single files": set(), "harness": {"aranyani_tf"},
                               "scripts": {"harness", "single files"}}
    assert "| **fairness** | The folder fairness. | forest |" in architecture.tables([package, scripts])


def test_folders_that_import_each_other_are_told(tmp_path):
    package, _ = made(tmp_path, aranyani_tf__forest__tree="import aranyani_tf.fairness.means",
                      aranyani_tf__fairness__means="import aranyani_tf.forest.tree", reproduce__figure1="")
    with pytest.raises(ValueError, match="in a circle: fairness, forest"):
        package.layers()


def test_an_arrow_more_is_another_picture(tmp_path):
    files = {"aranyani_tf__forest__tree": "", "aranyani_tf__fairness__means": "",
             "reproduce__figure1": "import aranyani_tf"}
    arrow = {"aranyani_tf__fairness__means": "import aranyani_tf.forest.tree"}
    before, again, after = (picture(made(tmp_path / name, **content), architecture.GROUND) for name, content in (
        ("before", files), ("again", files), ("after", files | arrow)))
    assert before == again != after


def stations(section):
    """(file, function) of each station of a section."""
    walk = PAGE.read_text(encoding="utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`, `([\w.]+)`: \w", walk, re.MULTILINE)


@pytest.mark.parametrize(("section", "compiled"), [
    ("The way of a sample through `fit`", {"run_eagerly": True}), ("The same way by the engine", {"engine": "numba"})])
def test_a_sample_takes_the_way_that_the_page_tells(section, compiled):
    found, package = {}, str(Path(ar.__file__).parent) + os.sep
    model = ar.Aranyani(num_trees=1, height=2)
    model.compile(**compiled)
    model.build((None, 3))

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(package):
            file = frame.f_code.co_filename.removeprefix(package).replace(os.sep, "/")
            found.setdefault((file, frame.f_code.co_qualname.removesuffix(".__init__")))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.fit(ar.Stream(np.ones((3, 3)), [0, 1, 1], [0, 1, 0]), verbose=0)
    finally:
        sys.setprofile(before)
    told = stations(section)
    assert 4 <= len(told) <= 12 and len({file for file, _ in told}) == len(told)
    assert [station for station in found if station in told] == told
