"""Who imports whom in `reproduce/`: scripts, extensions → ledger, methods, page → harness; and how long files are."""

import ast
from pathlib import Path

from harness import fingerprints

REPRODUCE = Path(__file__).parents[2] / "reproduce"
HEIGHTS = {"scripts": 2, "extensions": 2, "prepare": 2, "ledger": 1, "methods": 1, "page": 1, "harness": 0, "quiet": 0}


def folder_of(path):
    """The folder that a file of `reproduce/` lies in; `quiet` only silences an import, for all of them."""
    parts = path.relative_to(REPRODUCE).parts
    return parts[0] if len(parts) > 1 else "quiet" if path.stem == "quiet" else "scripts"


def test_folders_are_imported_one_way():
    for path in REPRODUCE.rglob("*.py"):
        package = ".".join(path.relative_to(REPRODUCE).parts[:-1])
        for name in fingerprints.imported(ast.parse(path.read_bytes()), package):
            used = REPRODUCE / (name.replace(".", "/") + ".py")
            if used.is_file():
                own, other = folder_of(path), folder_of(used)
                assert own == other != "scripts" or HEIGHTS[other] < HEIGHTS[own] or other == "quiet", (
                    f"{path.name} imports {name}")


def test_no_file_is_long():
    for path in REPRODUCE.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 220, path.name
