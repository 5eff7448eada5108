"""The walk over rows: predict, then learn, step by step (Algorithm 1), for one forest. `step` has the equations."""

from typing import Any, NamedTuple

import numpy as np

from aranyani_tf.engine import cells, moves, step
from aranyani_tf.engine.compiler import compiled, inner
from aranyani_tf.engine.denormals import floating_mode
from aranyani_tf.engine.layout import Shape, parts_of
from aranyani_tf.engine.optimizers import Optimizer, rate_at
from aranyani_tf.engine.passes import read_leaves
from aranyani_tf.engine.work import cut_work

RECORDS = 16  # the place of `records` in the first array of `plan_of`
WEIGHT, RATE, OFFSETS = 0, 5, 9  # and of λ and the learning rate in the second, and where the gaps' offsets begin
NO_OFFSETS = np.zeros((0, 0))
SAFE = 1e17  # gradients below it stay numbers on their way through an optimizer, which squares them


class Settings(NamedTuple):
    """What a step does, beside the numbers that it moves."""

    activation: int
    samples_per_step: int
    fairness_weight: float
    knee: float  # of the penalty; infinite for L2
    slope: float
    chance: float
    decay: float  # 0 forgets nothing
    by_time: bool
    online: bool
    compares_loss: bool
    positives_only: bool  # labels and groups are revealed where label 1 was predicted
    waits: bool  # until every group was seen
    records: bool  # the norms of gradients


def plan_of(shape: Shape, settings: Settings, optimizer: Optimizer,
            offsets: np.ndarray = NO_OFFSETS) -> tuple[np.ndarray, np.ndarray]:
    """All of it in two arrays, which a compiled function takes sooner than tuples: whole numbers, and others.

    Args:
        offsets: what is added to the gaps, (contrast, value), or empty.
    """
    one, other = settings, optimizer
    whole = [*shape, one.activation, one.samples_per_step, one.by_time, one.online, one.compares_loss,
             one.positives_only, one.waits, one.records, other.kind, other.nesterov]
    rest = [one.fairness_weight, one.knee, one.slope, one.chance, one.decay, other.learning_rate, other.beta_1,
            other.beta_2, other.epsilon, *offsets.ravel()]
    return np.array(whole, np.int64), np.array(rest, np.float64)


@inner
def parts_of_plan(whole: np.ndarray, rest: np.ndarray) -> tuple[Shape, Settings, Optimizer]:
    """What `plan_of` was given."""
    return (
        Shape(whole[0], whole[1], whole[2], whole[3], whole[4], whole[5], whole[6], whole[7], whole[8] != 0),
        Settings(whole[9], whole[10], rest[0], rest[1], rest[2], rest[3], rest[4], whole[11] != 0, whole[12] != 0,
                 whole[13] != 0, whole[14] != 0, whole[15] != 0, whole[16] != 0),
        Optimizer(whole[17], rest[5], rest[6], rest[7], rest[8], whole[18] != 0))


@compiled(_nrt=False)
def look(whole: np.ndarray, rest: np.ndarray, numbers: np.ndarray, real: np.ndarray, wide: np.ndarray,
         rows: np.ndarray, outputs: np.ndarray) -> float:
    """What the forest says, and nothing learned: fills outputs (n, label) of rows (n, feature). Arguments as of `walk`.

    It has few of them: each takes a tenth of a microsecond to hand over, and a row takes not much more. What it gives
    back is the sum of the features' squares: one that is small enough shows that all of them are numbers.
    """
    mode: Any = floating_mode(np.uint32(0))
    shape, settings, _ = parts_of_plan(whole, rest)
    parts, work = parts_of(shape, numbers), cut_work(shape, settings.samples_per_step, real, wide)
    read_leaves(parts.logits, work.powers, work.worth, work.leaf_shares)
    for t in range(rows.shape[0]):
        step.predict(shape, settings.activation, t, np.int64(0), rows, parts.matrix, work, outputs)
    squares = 0.0
    for t in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            squares += rows[t, i] * rows[t, i]
    floating_mode(mode)
    return squares


@compiled(_nrt=False)
def walk(whole: np.ndarray, rest: np.ndarray, numbers: np.ndarray, counts: np.ndarray, iterations: np.ndarray,
         real: np.ndarray, wide: np.ndarray, contrasts: np.ndarray, table: np.ndarray, rows: np.ndarray,
         labels: np.ndarray, groups: np.ndarray, kinds: np.ndarray, row_weights: np.ndarray, guarded: bool,
         outputs: np.ndarray, norms: np.ndarray) -> tuple[Any, float]:
    """Predicts and learns rows, (n, feature), in order; fills outputs (n, label) and norms (step, 9).

    Args:
        whole, rest: of `plan_of`.
        numbers, counts, iterations: what is learned. See `layout.Parts`; the counts of cells, of groups, and the
            largest entry that a mean gradient can have had; how often the optimizer has moved.
        real, wide: for the step's own work, of `work.work_sizes`.
        contrasts: (constraint, cell).
        labels: (n,) float64, class numbers or targets, −1 or NaN where missing; groups: (n,), −1 where missing.
        table: (kind, cell), what rows count for the cells by their kind, which is label·(groups + 1) + group, both
            counted from 1 and 0 where missing; of a regression's target all that counts is whether it is known.
        kinds: (n,), the rows' kinds if they are others; empty if not.
        row_weights: (n,), what rows weigh, more than 0; empty if each weighs 1.
        guarded: stops before a step that might leave numbers behind that are none.

    Returns:
        how many rows were walked, and the penalty after them.
    """
    mode: Any = floating_mode(np.uint32(0))
    shape, settings, optimizer = parts_of_plan(whole, rest)
    parts, num_cells, most = parts_of(shape, numbers), shape.num_cells, settings.samples_per_step
    work = cut_work(shape, most, real, wide)
    cell_count, group_count = counts[:num_cells], counts[num_cells : num_cells + shape.num_groups]
    offsets = rest[OFFSETS:]
    norm, opposite = work.norm, contrasts.shape == (1, 2) and contrasts[0, 0] == -contrasts[0, 1]
    weight, done, steps = settings.fairness_weight, np.int64(0), 0  # a literal 0 would be a type of its own
    while done < rows.shape[0]:
        samples = min(most, rows.shape[0] - done)
        read_leaves(parts.logits, work.powers, work.worth, work.leaf_shares)
        largest = 1.0
        for i in range(samples):
            largest = max(largest, step.predict(shape, settings.activation, done + i, i, rows, parts.matrix, work,
                                                outputs))

        # What is known of the step's samples.
        labelled, counted = 0, 0.0
        for i in range(samples):
            t = done + i
            work.label[i], work.group[i] = labels[t], groups[t]
            work.row_weights[i] = row_weights[t] if row_weights.size > 0 else 1.0
            hidden = False
            if settings.positives_only:  # unless label 1 is the first of the most probable
                for c in range(shape.num_labels):
                    hidden = hidden or outputs[t, c] > outputs[t, 1] or (c == 0 and outputs[t, 0] == outputs[t, 1])
            if hidden:
                work.group[i] = -1
            if hidden or (shape.num_labels > 1 and work.label[i] < 0):
                work.label[i] = np.nan
            known = work.label[i] == work.label[i]
            if kinds.size > 0:
                kind = kinds[t]
            else:
                number = int(work.label[i]) + 1 if known and shape.num_labels > 1 else int(known)
                kind = number * (shape.num_groups + 1) + int(work.group[i]) + 1
            labelled += known
            work.arrived[i] = known or work.group[i] >= 0
            for cell in range(num_cells):
                work.member[i, cell] = table[kind, cell]
                counted += table[kind, cell]

        # Their gradients.
        work.by_leaves[:] = 0
        steepest = 0.0
        for i in range(samples):
            row_weight = work.row_weights[i]
            slope = step.differentiate(shape, i, done + i, row_weight / max(labelled, 1), outputs, work)
            step.quantities(shape, settings.compares_loss, i, done + i, slope, outputs, work)
            steepest = max(steepest, abs(slope) * max(row_weight, 1.0))
            if slope != slope or outputs[done + i, 0] != outputs[done + i, 0]:
                steepest = np.inf
        if guarded:
            entry = max(counts[-1], 2 * largest * max(steepest if settings.compares_loss else 1.0, 1.0))
            pull = weight * contrasts.shape[0] * max(settings.slope, 1.0)
            size = 1.0  # of a value, where its square is kept
            for i in range(samples if shape.keeps_squares else 0):
                for j in range(work.value.shape[1]):
                    size = max(size, abs(work.value[i, j]))
            if not steepest * 2 * largest + pull * num_cells * entry < SAFE or not size * size < SAFE:
                break
            counts[-1] = entry

        # The memory, and what the gaps in it ask for.
        cells.count(samples, work.member, work.row_weights, work.arrived, settings.decay, settings.by_time,
                    settings.online, cell_count, work.share, work.total)
        step.remember(samples, settings.online, work, parts)
        cells.coefficients(contrasts, weight, settings.knee, settings.slope, settings.chance, offsets, cell_count,
                           parts.values, parts.squares, work.gap, work.coefficient)
        update = labelled > 0 or (weight > 0 and counted > 0)
        if settings.waits:
            for i in range(samples):
                if work.group[i] >= 0:
                    group_count[int(work.group[i])] += 1
            for g in range(group_count.size):
                update = update and (group_count[g] > 0 or weight == 0)

        # The weights.
        rate = rate_at(optimizer, iterations[0] + 1)
        norm[:] = 0
        moves.move_matrix(shape, optimizer, rate, settings.online, update, settings.records, opposite, done, samples,
                          rows, work, parts)
        moves.move_leaves(optimizer, rate, update, settings.records, work, parts)
        if update:
            iterations[0] += 1
        if settings.records:
            for i in range(9):
                norms[steps, i] = np.sqrt(norm[i // 3, i % 3])
        steps += 1
        done += samples
    worth = cells.penalty(contrasts, weight, settings.knee, settings.slope, settings.chance, offsets, cell_count,
                          parts.values, parts.squares, work.gap)
    floating_mode(mode)
    return done, worth
