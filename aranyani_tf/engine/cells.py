"""Cells' counts and means, and what the gaps between them ask of each quantity: Section 3.3 and Equation 5.

The same as `fairness.statistics.Memory` and `fairness.objective.Objective`, for one step's samples at a time.
"""

import numpy as np

from aranyani_tf.engine.compiler import inner

TINY = 1e-30


@inner
def count(samples: int, member: np.ndarray, row_weights: np.ndarray, arrived: np.ndarray, decay: float, by_time: bool,
          online: bool, cell_count: np.ndarray, shares: np.ndarray, totals: np.ndarray) -> None:
    """Counts a step's samples, and gives each its share in its cell's new mean: weight/count, or less with decay.

    From the last sample to the first, since a sample is discounted for each later one that makes its cell forget; it
    makes it forget once, whatever it weighs. A count is at least 1, or what a lighter sample weighs.

    Args:
        member: (sample, cell), what each counts for; row_weights: (sample,), more than 0.
        arrived: (sample,), whether it makes cells forget by time.
        shares, totals: (sample, cell) and (cell,), to be filled.
    """
    for cell in range(cell_count.size):
        if not online:
            cell_count[cell] = 0
        kept, new = 1.0, 0.0
        for i in range(samples - 1, -1, -1):
            weight = member[i, cell] * row_weights[i] * kept
            new += weight
            shares[i, cell] = weight
            if decay > 0:
                forgets = arrived[i] if by_time else member[i, cell]
                if forgets == 1:
                    kept *= 1 - decay
                elif forgets > 0:
                    kept *= (1 - decay) ** forgets
        cell_count[cell] = kept * cell_count[cell] + new
        totals[cell] = 0
        for i in range(samples):
            shares[i, cell] = shares[i, cell] / max(cell_count[cell], min(row_weights[i], 1.0))
            totals[cell] += shares[i, cell]


@inner
def gap_of(contrast: np.ndarray, chance: float, cell_count: np.ndarray, values: np.ndarray, squares: np.ndarray,
           gaps: np.ndarray) -> bool:
    """F = Σ_cell contrast·mean of every value; False, and 0, while a cell of it has nobody.

    In `gaps`, (3, value), the first row becomes F; the others are for work. With `chance` = z the gap is z standard
    errors shorter: σ²·Σ contrast²/count, with σ² of all its cells together.
    """
    counted, spread, gap = 0.0, 0.0, gaps[0]
    gap[:] = 0
    for cell in range(contrast.size):
        if contrast[cell] != 0:
            if cell_count[cell] <= 0:
                gap[:] = 0
                return False
            counted += cell_count[cell]
            spread += contrast[cell] ** 2 / max(cell_count[cell], TINY)
            factor = gap.dtype.type(contrast[cell])
            for j in range(gap.size):
                gap[j] += factor * values[cell, j]
    if chance > 0:
        mean, square = gaps[1], gaps[2]
        mean[:] = 0
        square[:] = 0
        for cell in range(contrast.size):
            if contrast[cell] != 0:
                share = gap.dtype.type(cell_count[cell] / max(counted, TINY))
                for j in range(gap.size):
                    mean[j] += share * values[cell, j]
                    square[j] += share * squares[cell, j]
        zero, spread_here, z = gap.dtype.type(0), gap.dtype.type(spread), gap.dtype.type(chance)
        for j in range(gap.size):
            error = np.sqrt(max(square[j] - mean[j] * mean[j], zero) * spread_here)
            left = max(abs(gap[j]) - z * error, zero)
            gap[j] = left if gap[j] > 0 else -left
    return True


@inner
def shift(c: int, offsets: np.ndarray, gap: np.ndarray) -> None:
    """Adds the offsets of contrast c, of (contrast, value) in one row; none may be empty."""
    if offsets.size > 0:
        for j in range(gap.size):
            gap[j] += gap.dtype.type(offsets[c * gap.size + j])


@inner
def coefficients(contrasts: np.ndarray, fairness_weight: float, knee: float, slope: float, chance: float,
                 offsets: np.ndarray, cell_count: np.ndarray, values: np.ndarray, squares: np.ndarray,
                 gaps: np.ndarray, result: np.ndarray) -> None:
    """λ Σ_c H′(F_c)·contrast[c, cell], (cell, value): what each cell's mean gradient counts for.

    H′(F) = F below the knee, ±slope above; L2 has no knee. F is with its offset, if there are any.
    """
    result[:] = 0
    if fairness_weight == 0:
        return
    gap = gaps[0]
    kind = gap.dtype.type
    delta, steep, weight = kind(knee), kind(slope), kind(fairness_weight)
    for c in range(contrasts.shape[0]):
        if gap_of(contrasts[c], chance, cell_count, values, squares, gaps):
            shift(c, offsets, gap)
            for j in range(gap.size):
                rising = gap[j] if abs(gap[j]) < delta else (steep if gap[j] > 0 else -steep)
                gap[j] = weight * rising
            for cell in range(contrasts.shape[1]):
                factor = kind(contrasts[c, cell])
                if factor != 0:
                    for j in range(gap.size):
                        result[cell, j] += factor * gap[j]


@inner
def penalty(contrasts: np.ndarray, fairness_weight: float, knee: float, slope: float, chance: float,
            offsets: np.ndarray, cell_count: np.ndarray, values: np.ndarray, squares: np.ndarray,
            gaps: np.ndarray) -> float:
    """λ Σ H(F), as it stands: F²/2 below the knee, then a line."""
    total, gap = 0.0, gaps[0]
    for c in range(contrasts.shape[0]):
        if gap_of(contrasts[c], chance, cell_count, values, squares, gaps):
            shift(c, offsets, gap)
            for j in range(gap.size):
                size = abs(gap[j])
                total += size * size / 2 if size < knee else knee * knee / 2 + slope * (size - knee)
    return fairness_weight * total
