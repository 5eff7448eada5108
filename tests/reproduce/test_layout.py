"""Who imports whom in `reproduce/`: scripts and extensions → methods → harness → the package, and no way back."""

import ast
from pathlib import Path

from harness import fingerprints

ROOT = Path(__file__).parents[2]
REPRODUCE = ROOT / "reproduce"
SCRIPTS = {path.stem for path in REPRODUCE.glob("*.py")} - {"quiet"}  # which only silences an import, for all of them
FOLDERS = {"scripts": 3, "extensions": 3, "prepare": 2, "methods": 1, "harness": 0}


def modules():
    """Every module of `reproduce/`: name → those of `reproduce/` that it imports anywhere in its code."""
    found = {}
    for path in REPRODUCE.rglob("*.py"):
        name = ".".join(path.relative_to(REPRODUCE).with_suffix("").parts).removesuffix(".__init__")
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        used = fingerprints.imported(ast.parse(path.read_bytes()), package)
        found[name] = {each for each in used if (REPRODUCE / (each.replace(".", "/") + ".py")).is_file()}
    return found


def folder_of(module):
    return module.split(".")[0] if "." in module or module in FOLDERS else "scripts"


def test_no_script_imports_another():
    assert {(name, used) for name, all_used in modules().items() for used in all_used & SCRIPTS} == set()


def test_folders_are_imported_one_way():
    for name, all_used in modules().items():
        for used in all_used - {"quiet"}:
            assert folder_of(used) == folder_of(name) or FOLDERS[folder_of(used)] < FOLDERS[folder_of(name)], (
                f"{name} imports {used}")


def test_the_harness_has_no_circle():
    waiting = {name: used for name, used in modules().items() if folder_of(name) == "harness"}
    while waiting:
        free = [name for name, used in waiting.items() if not used & set(waiting)]
        assert free, f"these import each other: {sorted(waiting)}"
        waiting = {name: used for name, used in waiting.items() if name not in free}


def test_the_package_imports_nothing_of_reproduce():
    ours = {path.stem for path in REPRODUCE.glob("*.py")} | {path.name for path in REPRODUCE.iterdir() if path.is_dir()}
    for path in (ROOT / "aranyani_tf").rglob("*.py"):
        used = {name.split(".")[0] for name in fingerprints.imported(ast.parse(path.read_bytes()), "aranyani_tf")}
        assert not used & ours, path.name


def test_no_file_is_long():
    for path in REPRODUCE.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 220, path.name
