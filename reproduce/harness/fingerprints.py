"""What an experiment's numbers depend on, as hashes: no old result passes for a new one.

Covered are, besides the experiment's own settings:

- every module of the package and of `reproduce/` that `experiments.py` imports, or the module of an experiment's
  own class, directly or through others;
- of the tables of methods and datasets only the entry in question, with what it names: a method's own module
  changes the results of that method alone, a dataset's those of that dataset;
- the versions of the libraries in `LIBRARIES`, but not of what these use in turn, nor the machine;
- the data: all features, labels and groups of embeddings, which users make. The hashes of all other files are
  in the code, and checked whenever they are read.

The scripts that plot, log or word results are not covered: they compute none.
"""

import ast
import hashlib
import inspect
from functools import cache
from importlib.metadata import version
from pathlib import Path

import aranyani_tf as ar
from harness import experiment_streams as streams

ROOT = Path(__file__).parents[2]
LIBRARIES = ("tensorflow", "keras", "numpy", "pandas", "pyarrow", "river")
TABLES = ("harness.methods", "aranyani_tf.datasets")  # of these the entry alone counts
ONLY_FOR_KERAS = "aranyani_tf.baselines"  # the package imports some so that Keras can load them


@cache
def of_code(method, dataset, module="harness.experiments", root=ROOT):
    """A hash of the code that a method's results on a dataset depend on, and of the libraries' versions.

    `module` is where the experiment's class is from, which may be one of its own.
    """
    entry, named = method_entry(method, root)
    found = hashlib.sha256(entry.encode())
    found.update(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    modules = ["harness.experiments", module, ar.datasets.LOADERS[dataset].__module__, *named]
    for path in sorted(files_of(modules, root)):
        found.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return found.hexdigest()


def of_data(dataset):
    """A hash of all rows of a dataset that the user has made; nothing for those whose hashes are in the code."""
    made = "embeddings" in inspect.signature(ar.datasets.LOADERS[dataset]).parameters
    return of_stream(streams.load(dataset)) if made else ""


@cache
def of_stream(stream):
    found = hashlib.sha256()
    for array in (stream.features, stream.labels, stream.groups):
        found.update(f"{array.dtype} {array.shape}".encode())
        for start in range(0, len(array), 4096):  # it may be memory-mapped, and larger than the memory
            found.update(array[start : start + 4096].tobytes())
    return found.hexdigest()


def files_of(modules, root):
    """The files of these modules of ours, and of all that they import."""
    waiting, files = list(modules), set()
    while waiting:
        module = waiting.pop()
        path = file_of(module, root)
        if path is None or path in files:
            continue
        files.add(path)
        following = imported(ast.parse(path.read_bytes())) - set(TABLES)
        if module == "aranyani_tf":
            following = {name for name in following if not name.startswith(ONLY_FOR_KERAS)}
        waiting += following
    return files


def file_of(module, root):
    """The module's file, or None if it is not one of ours."""
    for folder in (root / "reproduce", root):
        for ending in (".py", "/__init__.py"):
            path = folder / (module.replace(".", "/") + ending)
            if path.is_file():
                return path
    return None


def imported(tree):
    """What could be the name of a module in the imports of a piece of code."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def method_entry(method, root):
    """The source of an entry of METHODS with the definitions that it names, and the modules that they name."""
    tree = ast.parse((root / "reproduce" / "harness" / "methods.py").read_bytes())
    definitions, modules, table = {}, {}, None
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            definitions[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = imported(ast.Module([node], []))
            modules |= {alias.asname or alias.name: names for alias in node.names}
        elif isinstance(node, ast.Assign) and node.targets[0].id == "METHODS":
            table = dict(zip((key.value for key in node.value.keys), node.value.values, strict=True))
        elif isinstance(node, ast.Assign):
            definitions[node.targets[0].id] = node
    used, waiting, sources = set(), {"": table[method]}, {}
    while waiting:
        name, node = waiting.popitem()
        sources[name] = ast.unparse(node)
        named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - set(sources)
        waiting |= {each: definitions[each] for each in named if each in definitions}
        used |= set().union(*(modules.get(each, ()) for each in named))
    return "\n".join(sources[name] for name in sorted(sources)), sorted(used)
