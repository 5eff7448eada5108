"""The package as a whole: its layers, its backend, its penalties and notions."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar

ROOT = Path(__file__).parents[1]
# A file or folder of the package imports only from those before it; baselines and later ones are peers of the model.
ORDER = ["errors", "arguments", "archives", "files", "checked_json", "labels", "variables", "interfaces", "forest",
         "theory", "fairness", "learning", "engine", "streams", "evaluation", "control", "exports", "model", "tabular",
         "grove", "baselines", "embeddings", "datasets", "adapters", "river", "scikit", "command",
         "scale"]


def imports_of(path):
    """The names of the modules that a file imports, as far as they could be ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_a_folder_of_the_package_imports_only_from_those_before_it():
    package = ROOT / "aranyani_tf"
    found = {path.stem if path.is_file() else path.name for path in package.iterdir()
             if path.suffix == ".py" or (path / "__init__.py").is_file()} - {"__init__"}
    assert found == set(ORDER)  # none is forgotten here
    for path in package.rglob("*.py"):
        own = path.relative_to(package).parts[0].removesuffix(".py")
        for name in imports_of(path) if own != "__init__" else ():
            assert not name.startswith(("harness", "reproduce", "methods")), f"{path} imports {name}"
            used = name.split(".")[1:2] if name.startswith("aranyani_tf.") else []
            for each in set(used) & set(ORDER):
                assert own == each or ORDER.index(each) < ORDER.index(own), f"{path} imports {name}"


def test_no_two_modules_import_each_other():
    """In the package and in `reproduce/`, over any number of steps; imports inside functions are left out."""
    roots = {"aranyani_tf": ROOT, "harness": ROOT / "reproduce", "methods": ROOT / "reproduce",
             "prepare": ROOT / "reproduce", "page": ROOT / "reproduce"}
    files = {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
             for name, root in roots.items() for path in (root / name).rglob("*.py")}
    graph = {}
    for module, path in files.items():
        top = [node for node in ast.parse(path.read_text(encoding="utf-8")).body
               if isinstance(node, (ast.Import, ast.ImportFrom))]
        names = {name for node in top for name in imported_by(node)}
        graph[module] = {name for name in names if name in files and not module.startswith(f"{name}.")} - {module}
    graphlib.TopologicalSorter(graph).prepare()  # raises on a circle, and names it


def imported_by(node):
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} if node.module else set()


def test_no_file_of_the_package_is_long():
    for path in (ROOT / "aranyani_tf").rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 220, path.name


def test_the_top_level_has_about_a_dozen_names():
    assert 10 <= len(ar.__all__) <= 22 and all(hasattr(ar, name) for name in ar.__all__)


def test_another_keras_backend_is_refused_with_the_way_out():
    program = ("import sys, types, keras; keras.config.backend = lambda: 'torch'\n"
               "import aranyani_tf")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode != 0
    assert "backend is 'torch'" in result.stderr and "KERAS_BACKEND" in result.stderr


@pytest.mark.parametrize("penalty", [ar.Huber(), ar.Huber(0.1, linear_slope=1.0), ar.L2()])
def test_a_penalty_s_gradient_is_the_slope_of_its_value(penalty):
    gaps = tf.constant([-0.5, -0.05, -0.004, 0.0, 0.006, 0.2], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(gaps)
        value = penalty.value(gaps)
    np.testing.assert_allclose(tape.gradient(value, gaps), penalty.gradient(gaps), atol=1e-15)


def test_the_paper_s_huber_is_the_huber_function():
    gaps = np.linspace(-0.05, 0.05, 101)
    expected = np.where(np.abs(gaps) < 0.01, gaps**2 / 2, 0.01 * (np.abs(gaps) - 0.005))
    np.testing.assert_allclose(ar.Huber(0.01).value(tf.constant(gaps)), expected, atol=1e-15)


def test_a_notion_of_one_s_own_needs_only_its_conditions():
    """Parity among the unlabelled: a condition nobody else has."""
    class AmongUnlabelled(ar.Notion):
        def conditions(self, labels, outputs, num_labels):
            return (labels < 0)[:, None]

    model = ar.Aranyani(num_trees=1, height=1, notion=AmongUnlabelled())
    x = np.ones((4, 2), "float32")
    model.predict_then_learn(x, np.array([-1, 0, -1, 1]), np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(model.statistics.cell_count, [1, 1])


def test_streams_slice_and_describe_themselves():
    stream = ar.datasets.load("synthetic", num_rows=100, num_groups=3, num_labels=4)
    assert repr(stream) == "Stream('synthetic', 100 rows, 14 features, 4 labels, 3 groups)"
    assert len(stream[10:20]) == 10 and len(stream[stream.groups == 0]) == (stream.groups == 0).sum()
    sizes = [len(labels) for _, labels in stream.chunks(30)]
    assert sizes == [30, 30, 30, 10] and len(stream.chunks(30)) == 4
    with pytest.raises(ValueError, match="synthetic"):
        ar.datasets.load("nothing")
