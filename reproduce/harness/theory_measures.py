"""What the theory's figure measures: one tree along Adult, and beside each number the bounds of `aranyani_tf.theory`.

Every function gives tidy rows: panel, height, seed, step, node, quantity, value, and three bounds. `bound_of_data` is a
corrected bound in which the data's own numbers stand where the theory has to assume the worst.
"""

import quiet  # noqa: F401

from collections.abc import Iterator

import keras
import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.theory import bounds, gaps, soft_tree, task_loss

FAIRNESS_WEIGHT, DELTA, SLOPE = 0.1, 0.01, 1.0  # the released rule


def with_ones(features: np.ndarray) -> np.ndarray:
    """x̃: the features, and the 1 that the bias is multiplied by, in float64."""
    return np.column_stack([features, np.ones(len(features))]).astype("float64")


def tree_of(model: ar.Aranyani) -> tuple[np.ndarray, np.ndarray]:
    """Weights (node, input) and leaf logits (leaf, label) of a model of one tree."""
    kernel, bias, logits = (np.asarray(weight, "float64")[0] for weight in model.forest.weights)
    return np.vstack([kernel, bias]).T, logits


def held_gaps(model: ar.Aranyani) -> tuple[np.ndarray, np.ndarray]:
    """F̂ (node,) and ∇F̂ (node, input), from the running means that the model holds."""
    means = model.statistics
    values, kernel, bias = (np.asarray(each, "float64")[:, 0] for each in (
        means.decision_mean, means.kernel_gradient_mean, means.bias_gradient_mean))
    slopes = np.concatenate([kernel, bias[:, None]], axis=1)  # (group, input, node)
    return values[0] - values[1], (slopes[0] - slopes[1]).T


def learned(model: ar.Aranyani, stream: ar.Stream, checkpoints: np.ndarray) -> Iterator[int]:
    """Lets the model learn the stream, and stops at every checkpoint."""
    begin = 0
    for end in map(int, checkpoints):
        if end > begin:
            model.predict_then_learn(stream.features[begin:end], stream.labels[begin:end], stream.groups[begin:end])
        yield end
        begin = end


def spaced(first: int, last: int, count: int) -> np.ndarray:
    """Checkpoints with about the same ratio from each to the next."""
    return np.unique(np.geomspace(min(first, last), last, count).round().astype(int))


def along_stream(stream: ar.Stream, height: int, seed: int = 0) -> list[dict]:
    """Panels a and b: parity beside Lemma 1; the error of the running means beside Lemmas 3 and 4."""
    model = ar.Aranyani(num_trees=1, height=height, fairness_weight=FAIRNESS_WEIGHT, seed=seed,
                        penalty=ar.Huber(DELTA, linear_slope=SLOPE), wait_for_all_groups=True)
    model.compile()
    inputs, rows = with_ones(stream.features), []
    norm = float(np.linalg.norm(inputs, axis=1).max())
    for step in learned(model, stream, spaced(30, len(stream), 12)):
        seen, groups = inputs[:step], stream.groups[:step]
        if len(np.unique(groups)) < 2:
            continue
        weights, logits = tree_of(model)
        place = {"height": height, "seed": seed, "step": step}
        rows.append({"panel": "a", **place, **parity(weights, logits, seen, groups)})
        rows += [{"panel": "b", **place, **each}
                 for each in errors(weights, held_gaps(model), seen, groups, norm)]
    return rows


def parity(weights: np.ndarray, logits: np.ndarray, inputs: np.ndarray, groups: np.ndarray) -> dict:
    """The soft gap with the present weights over the rows so far, and Lemma 1."""
    n, leaves = soft_tree.sigmoid(inputs @ weights.T), task_loss.softmax(logits)[:, 1]
    distances, leaf_range = gaps.pair_distances(n, groups), float(np.ptp(leaves))
    reached = gaps.reached_pair_distances(n, soft_tree.reach(n), groups)
    return {"quantity": "soft_demographic_parity", "value": gaps.parity_gap(soft_tree.output(n, leaves), groups),
            "bound_printed": bounds.parity_printed(soft_tree.height_of(len(weights)), distances.max()),
            "bound_corrected": bounds.parity_tightened(distances, leaf_range),
            "bound_of_data": bounds.parity_by_reach(reached, leaf_range)}


def errors(weights: np.ndarray, held: tuple[np.ndarray, np.ndarray], inputs: np.ndarray, groups: np.ndarray,
           norm: float) -> Iterator[dict]:
    """Node by node, what the running means make of ∇F and of ∇H(F), less what it is with the present weights."""
    exact, lengths = gaps.node_gaps(weights, inputs, groups), np.linalg.norm(inputs, axis=1)
    mean_norm = float(lengths[groups == 0].mean() + lengths[groups == 1].mean()) / 2  # a mean is as long as its rows
    for name, values in (("exact_gap", exact[0]), ("held_gap", held[0])):
        yield from ({"node": node, "quantity": name, "value": value} for node, value in enumerate(values))
    penalty = [gaps.fairness_gradient(*each, DELTA, SLOPE) for each in (exact, held)]
    for name, first, second, printed, corrected, of_data in (
            ("gap_gradient_error", exact[1], held[1], norm / 4, norm / 2, mean_norm / 2),
            ("fairness_gradient_error", *penalty, bounds.fairness_gradient_error_printed(SLOPE, norm),
             bounds.fairness_gradient_error_corrected(SLOPE, norm),
             bounds.fairness_gradient_error_corrected(SLOPE, mean_norm))):
        for node, value in enumerate(np.linalg.norm(first - second, axis=1)):
            yield {"node": node, "quantity": name, "value": value, "bound_printed": printed,
                   "bound_corrected": corrected, "bound_of_data": of_data}


def by_height(records: pd.DataFrame) -> list[dict]:
    """Panel c: norms of Figure 7's fairness gradients beside the fairness part of Lemma 5."""
    (dataset,), (fairness_weight,) = records["dataset"].unique(), records["fairness_weight"].unique()
    norm = float(np.linalg.norm(with_ones(ar.datasets.load(dataset).features), axis=1).max())
    lengths = np.hypot(records["fairness_node_kernel"], records["fairness_node_bias"])
    late = records["step"] > 0.9 * records["step"].max()
    rows = []
    for name, by_run in (
            ("fairness_gradient_norm_at_the_end", lengths[late].groupby([records["height"], records["seed"]]).mean()),
            ("largest_fairness_gradient_norm", lengths.groupby([records["height"], records["seed"]]).max())):
        for (height, seed), value in by_run.items():
            rows.append({"panel": "c", "height": height, "seed": seed, "step": records["step"].max(), "quantity": name,
                         "value": value,
                         "bound_printed": bounds.fairness_gradient_printed(height, fairness_weight, SLOPE, norm),
                         "bound_corrected": bounds.fairness_gradient_tightened(height, fairness_weight, SLOPE, norm)})
    return rows


def sgd_model(height: int, fairness_weight: float, rate: float, seed: int = 0) -> ar.Aranyani:
    """One tree with the paper's Huber, by plain SGD, as Theorem 1 has it; the released rule's slope jumps."""
    model = ar.Aranyani(num_trees=1, height=height, fairness_weight=fairness_weight, penalty=ar.Huber(DELTA), seed=seed)
    model.compile(optimizer=keras.optimizers.SGD(rate))
    return model
