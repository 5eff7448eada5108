"""The package as a whole: its layers, its backend, its penalties and notions."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar

ORDER = ["errors", "arguments", "files", "routing", "forest", "layout", "notions", "penalties", "learners",
         "keras_learner", "statistics", "constraints", "step", "loop", "gradient_record", "metrics", "prequential",
         "keras_metrics", "progress", "target_scale", "rows", "chunks", "preprocessing", "columns", "codes",
         "table_options", "tables", "table_report", "tabular", "stream", "settings", "shared_model", "chunk_model",
         "online", "model", "replicas", "records", "grove", "baselines", "tracking", "embeddings", "datasets"]


def test_a_module_imports_only_from_those_before_it():
    package = Path(ar.__file__).parent
    for path in package.rglob("*.py"):
        own = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if own == "__init__" or not isinstance(node, ast.ImportFrom):
                continue
            if node.module == "aranyani_tf":
                used = [alias.name for alias in node.names]
            elif node.module and node.module.startswith("aranyani_tf."):
                used = [node.module.split(".")[1]]
            else:
                continue
            for name in used:
                assert own == name or ORDER.index(name) < ORDER.index(own), f"{own} imports {name}"


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
