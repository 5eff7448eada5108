"""Type hints: every function that users or other modules call says what it takes and gives."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "aranyani_tf"


def public_functions(scope: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions of a module and methods of its classes, by their full names; not those inside another function."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ClassDef):
            yield from public_functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not node.name.startswith("_") or node.name.endswith("__"):
                yield prefix + node.name, node
        elif not isinstance(node, ast.expr):  # a function under `if` or `try` is one of the module, too
            yield from public_functions(node, prefix)


def not_annotated(source: str) -> list[str]:
    """What lacks a hint: "function: argument" or "function: what it returns"."""
    found = []
    for name, function in public_functions(ast.parse(source)):
        parts = function.args
        arguments = [*parts.posonlyargs, *parts.args, *parts.kwonlyargs, parts.vararg, parts.kwarg]
        found += [f"{name}: {argument.arg}" for argument in arguments
                  if argument is not None and argument.annotation is None and argument.arg not in ("self", "cls")]
        found += [f"{name}: what it returns"] if function.returns is None else []
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_public_function_is_annotated(path):
    assert not_annotated(path.read_text(encoding="utf-8")) == []


def test_what_lacks_a_hint_is_named():
    source = """
class Model:
    def __init__(self, size, *, seed: int = 0, **others) -> None: ...
    def _own(self, anything): ...
if True:
    def outer(x: int, /, y=None, *rest):
        def inner(z): ...
"""
    assert not_annotated(source) == ["Model.__init__: size", "Model.__init__: others", "outer: y", "outer: rest",
                                     "outer: what it returns"]
