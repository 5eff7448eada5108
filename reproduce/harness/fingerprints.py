"""What an experiment's numbers depend on, as hashes: no old result passes for a new one.

Covered are, besides the experiment's own settings:

- every module of the package and of `reproduce/` that `experiments.py` imports, or the module of an experiment's
  own class, directly or through others;
- the modules that register the method, the rule and the dataset in question, with all that they import, and no other
  of their kind: a method's module changes the results of its own methods alone, a dataset's those of that dataset;
- the versions of the libraries in `LIBRARIES`, but not of what these use in turn, nor the machine;
- the data: all rows of what users make, embeddings and datasets of their own. The hashes of all other files are in
  the code, and checked whenever they are read.

The scripts that plot, log or word results are not covered: they compute none. Nor are a method's label, marker,
colour and speed, what it says of itself for the field, nor its λ, which an experiment has among its settings.
"""

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterable
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError
from harness import ROOT, registry
from harness import experiment_streams as streams

LIBRARIES = ("tensorflow", "keras", "numba", "llvmlite", "numpy", "pandas", "pyarrow", "river", "scikit-learn")
TABLES = {"aranyani_tf.datasets"}  # of it the entry alone counts
ONLY_FOR_KERAS = "aranyani_tf.baselines"  # the package imports some so that Keras can load them
# Arguments of `register_method`; which notions a method is told, and its knob, are among an experiment's settings.
NOT_COMPUTED = ("label", "marker", "color", "nanoseconds", "fairness_weights", "group_needed", "steered", "notions",
                "knob", "knob_values", "num_groups", "field")


@cache
def of_code(method: str, dataset: str, rule: str = "released", module: str = "harness.experiments",
            root: Path = ROOT) -> str:
    """A hash of the code that a method's results on a dataset depend on, and of the libraries' versions.

    `module` is where the experiment's class is from, which may be one of its own.
    """
    found = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    modules = ["harness.experiments", module, registry.method(method).module, registry.rules()[rule].module,
               module_of(dataset)]
    for path, content in sorted(files_of(modules, root).items()):
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        found.update(name.encode() + computed_by(content))
    return found.hexdigest()


def of_data(dataset: str) -> str:
    """A hash of all rows of a dataset that the user has made; nothing for those whose hashes are in the code."""
    registry.load_all()
    made = "embeddings" in inspect.signature(ar.datasets.LOADERS[dataset]).parameters
    is_own = not module_of(dataset).startswith("aranyani_tf.")
    return of_stream(streams.load(dataset)) if made or is_own else ""


@cache
def of_stream(stream: ar.Stream) -> str:
    found = hashlib.sha256()
    for array in (stream.features, stream.labels, stream.groups):
        found.update(f"{array.dtype} {array.shape}".encode())
        for start in range(0, len(array), 4096):  # it may be memory-mapped, and larger than the memory
            found.update(array[start : start + 4096].tobytes())
    return found.hexdigest()


def module_of(dataset: str) -> str:
    """The module of a dataset's loader."""
    loader = ar.datasets.LOADERS[dataset]
    while isinstance(loader, partial):
        loader = loader.func
    return loader.__module__


def files_of(modules: Iterable[str], root: Path) -> dict[Path, bytes]:
    """The files of these modules, and of all of ours that they import, with their contents."""
    waiting, files = {module: file_of(module, root) or own_file(module) for module in modules}, {}
    seen = set(waiting)
    while waiting:
        module, path = waiting.popitem()
        if path is None or path in files:
            continue
        files[path] = path.read_bytes()
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        following = imported_by(files[path], package) - TABLES
        if module == "aranyani_tf":
            following = {name for name in following if not name.startswith(ONLY_FOR_KERAS)}
        waiting |= {name: file_of(name, root) for name in following - seen}
        seen |= following
    return files


def file_of(module: str, root: Path) -> Path | None:
    """The module's file, or None if it is not one of ours."""
    for folder in (root / "reproduce", root):
        for ending in (".py", "/__init__.py"):
            path = folder / (module.replace(".", "/") + ending)
            if path.is_file():
                return path
    return None


def own_file(module: str) -> Path:
    """The file of a module from elsewhere that registers something; without one nobody can tell when it changes."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        raise ArgumentError(f"{module} has no file, so results could not be told from those of other code; register "
                            "methods, rules and datasets in a file of reproduce/extensions/")
    return Path(file)


@cache
def imported_by(content: bytes, package: str) -> set[str]:
    """`imported` of a file's content, which many methods have in common."""
    return imported(ast.parse(content), package)


def imported(tree: ast.AST, package: str = "") -> set[str]:
    """What could be the name of a module in the imports of a piece of code; `package` is what it lies in."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name and not name.startswith(".")}


@cache
def computed_by(content: bytes) -> bytes:
    """What counts of a file's content: all of it, but where methods are registered only what they compute with."""
    if b"register_method(" not in content:
        return content
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "register_method":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in NOT_COMPUTED]
    return ast.unparse(tree).encode()
