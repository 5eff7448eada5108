"""The engine's order of nodes and leaves beside the heap order, and the arrays that are cut from one."""

import numpy as np
import pytest
import tensorflow as tf

from aranyani_tf.engine import layout, passes, work
from aranyani_tf.engine.layout import LEAF, NODE, OUTPUT, Shape
from aranyani_tf.forest.routing import leaf_probabilities_by_levels

FORESTS = [(1, 1), (1, 4), (2, 5), (3, 2), (5, 3)]  # (trees, height)
SHAPES = [Shape(trees, height, num_inputs=4, num_labels=labels, num_cells=cells, num_groups=2, level=level,
                num_quantities=quantities, keeps_squares=squares)
          for trees, height, labels, cells, level, quantities, squares in [
              (1, 1, 2, 2, NODE, 0, False), (2, 5, 2, 2, NODE, 0, True), (3, 2, 3, 4, LEAF, 0, True),
              (1, 3, 1, 2, LEAF, 0, False), (3, 2, 3, 4, OUTPUT, 3, True), (2, 1, 2, 2, OUTPUT, 1, False)]]


@pytest.mark.parametrize(("num_trees", "height"), FORESTS)
def test_each_node_and_each_leaf_has_one_place(num_trees, height):
    nodes, leaves = layout.by_levels(num_trees, height), layout.leaf_order(num_trees, height)
    assert sorted(nodes) == list(range(num_trees * (2**height - 1)))
    assert sorted(leaves) == list(range(num_trees * 2**height))


@pytest.mark.parametrize(("num_trees", "height"), FORESTS)
def test_the_children_of_a_level_are_the_halves_of_the_next(num_trees, height):
    order, num_nodes = layout.by_levels(num_trees, height), 2**height - 1
    places = [(number // num_nodes, number % num_nodes) for number in order.tolist()]
    start, width = 0, num_trees
    for _ in range(height - 1):
        for j, (tree, node) in enumerate(places[start : start + width]):
            assert places[start + width + j] == (tree, 2 * node + 1)
            assert places[start + 2 * width + j] == (tree, 2 * node + 2)
        start, width = start + width, 2 * width


@pytest.mark.parametrize(("num_trees", "height"), FORESTS)
def test_going_down_reaches_the_leaves_as_routing_by_levels_does(num_trees, height):
    decisions = np.random.default_rng(0).random((1, num_trees, 2**height - 1))
    expected = leaf_probabilities_by_levels(tf.constant(decisions)).numpy().reshape(-1)
    slots = -(-num_trees * (2**height - 1) // layout.LANES) * layout.LANES
    by_level, reach = np.zeros((1, slots)), np.zeros((1, num_trees * (2 ** (height + 1) - 1)))
    order = layout.by_levels(num_trees, height)
    by_level[0, : len(order)] = decisions.reshape(-1)[order]
    passes.descend(0, num_trees, height, by_level, reach)
    leaves = reach[0, num_trees * (2**height - 1) :]
    np.testing.assert_allclose(leaves, expected[layout.leaf_order(num_trees, height)], rtol=1e-13)
    np.testing.assert_allclose(leaves.sum(), num_trees)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_parts_fill_the_array_without_overlap_and_begin_with_cache_lines(shape):
    numbers = np.zeros(layout.num_numbers(shape), np.float32)
    for part in layout.parts_of.py_func(shape, numbers):
        assert np.shares_memory(part, numbers) or part.size == 0
        assert part.size == 0 or (part.ctypes.data - numbers.ctypes.data) % (4 * layout.LINE) == 0
        part += 1
    assert set(np.unique(numbers)) <= {0, 1}  # none was written twice
    num_parts = sum(part.size > 0 for part in layout.parts_of.py_func(shape, numbers))
    assert (numbers == 0).sum() < num_parts * layout.LINE


@pytest.mark.parametrize("shape", SHAPES)
def test_parts_have_the_shapes_that_they_are_said_to_have(shape):
    parts = layout.parts_of.py_func(shape, np.zeros(layout.num_numbers(shape), np.float32))
    slots, leaves = parts.matrix.shape[1], shape.num_trees << shape.height
    values, rows, columns = {NODE: (slots, 1, slots), LEAF: (leaves, 1, leaves * shape.height),
                             OUTPUT: (shape.num_quantities, shape.num_quantities, slots)}[shape.level]
    assert slots % layout.LANES == 0 and 0 <= slots - (leaves - shape.num_trees) < layout.LANES
    assert parts.matrix.shape == parts.matrix_first.shape == parts.matrix_second.shape == (shape.num_inputs, slots)
    assert parts.logits.shape == parts.logits_first.shape == parts.logits_second.shape == (shape.num_labels, leaves)
    assert parts.values.shape == (shape.num_cells, values)
    assert parts.squares.shape == (shape.num_cells if shape.keeps_squares else 0, values)
    assert parts.gradients.shape == (shape.num_cells, shape.num_inputs, rows, columns)
    by_leaf = shape.num_cells if shape.level == OUTPUT else 0
    assert parts.leaf_gradients.shape == (by_leaf, values, shape.num_labels, leaves)


@pytest.mark.parametrize("samples", [1, 5])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_s_arrays_fit_into_their_room_without_overlap(shape, samples, monkeypatch):
    monkeypatch.setattr(work, "head", work.head.py_func)  # compiled, it has views for compiled callers alone
    real, wide = (np.zeros(size) for size in work.work_sizes.py_func(shape, samples))
    for array in work.cut_work.py_func(shape, samples, real, wide):
        array += 1
    for room in (real, wide):
        assert set(np.unique(room)) <= {0, 1}  # none was written twice
    slots, leaves, values, rows, columns = layout.sizes.py_func(shape)
    cut = work.cut_work.py_func(shape, samples, real, wide)
    quantities = values if shape.level == OUTPUT else 0
    assert cut.reach.shape == (samples, 2 * leaves - shape.num_trees) and cut.worth.shape == cut.reach.shape[1:]
    assert cut.powers.size >= max(slots, leaves)
    assert cut.column.shape == (samples, rows, columns) and cut.pending.shape == (rows, columns)
    assert cut.leaf_column.shape == (samples, quantities, shape.num_labels, leaves)
    assert cut.gradient.shape == (1, slots) and cut.norm.shape == (3, 3)
    assert real.sum() == sum(array.size for array in cut if np.shares_memory(array, real))
    assert wide.sum() == sum(array.size for array in cut if np.shares_memory(array, wide))
