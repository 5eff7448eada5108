"""A row's way down a forest and back, level by level: Section 3.4 of the paper, as `forest.routing` defines it.

Arrays over nodes have the order of `layout`: a level's left children are the next level's first half. Those with a
leading axis are indexed by i, the sample within its step.
"""

import numpy as np

from aranyani_tf.engine.compiler import inner

SIGMOID, SMOOTHERSTEP = 0, 1
at = np.uintp  # an index that is not asked whether it counts from the end


@inner
def exponentials(count: int, powers: np.ndarray, numbers: np.ndarray) -> None:
    """The first numbers z become exp(z); in float32 eight at a time, to the last digit but one. `powers` is for work.

    exp(z) = 2^k·e^r with k the nearest whole number to z/ln 2: e^r is a polynomial, and 2^k is the float whose
    exponent is k, written as bits. ln 2 is taken off in two pieces, since k·ln 2 alone would be rounded.
    """
    if numbers.itemsize == 8:
        for j in range(count):
            numbers[j] = np.exp(numbers[j])
        return
    bits = powers.view(np.int32)
    for j in range(count):
        z = numbers[j]
        x = min(max(z, np.float32(-87)), np.float32(88))
        k = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
        r = x - k * np.float32(0.693359375) + k * np.float32(2.12194440e-4)
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        p = p * r * r + r + np.float32(1)
        numbers[j] = p if z == z else z  # NaN stays NaN
        bits[j] = (np.int32(k) + np.int32(127)) << np.int32(23)
    for j in range(count):
        numbers[j] *= powers[j]


@inner
def decide(i: int, activation: int, used: int, z: np.ndarray, powers: np.ndarray, decisions: np.ndarray,
           slopes: np.ndarray) -> None:
    """n = g(z) and g′(z) of every node; 0 for idle slots, from `used` on. z is used up."""
    kind = z.dtype.type
    zero, half, one = kind(0), kind(0.5), kind(1)
    if activation == SIGMOID:
        for j in range(z.size):
            z[j] = -z[j]
        exponentials(z.size, powers, z)
        for j in range(z.size):
            n = one / (one + z[j])
            decisions[i, j] = n
            slopes[i, j] = n * (one - n)
    else:
        six, ten, fifteen, thirty = kind(6), kind(10), kind(15), kind(30)
        for j in range(z.size):
            t = min(max(z[j] + half, zero), one)
            decisions[i, j] = t * t * t * (t * (six * t - fifteen) + ten) if z[j] == z[j] else z[j]
            slopes[i, j] = thirty * t * t * (one - t) * (one - t)
    for j in range(used, z.size):
        decisions[i, j] = zero
        slopes[i, j] = zero


@inner
def descend(i: int, num_trees: int, height: int, decisions: np.ndarray, reach: np.ndarray) -> None:
    """The probability of reaching each node and leaf: reach splits into reach·n (left) and the rest (right)."""
    here, width = at(0), at(num_trees)
    for j in range(width):
        reach[i, j] = 1
    for _ in range(height):
        left, right = here + width, here + width + width
        for j in range(width):
            all_ = reach[i, here + j]
            r = all_ * decisions[i, here + j]
            reach[i, left + j] = r
            reach[i, right + j] = all_ - r
        here, width = left, width + width


@inner
def ascend(i: int, row: int, num_trees: int, height: int, decisions: np.ndarray, slopes: np.ndarray,
           reach: np.ndarray, worth: np.ndarray, result: np.ndarray) -> None:
    """From what leaves are worth, ∂L/∂p at the end of `worth`, to ∂L/∂z of every node: result[i, row].

    A node is worth v = n·v_left + (1 − n)·v_right, and ∂L/∂z = reach·(v_left − v_right)·g′(z).
    """
    for depth in range(height - 1, -1, -1):
        width = at(num_trees << depth)
        here = width - at(num_trees)
        left, right = here + width, here + width + width
        for j in range(width):
            other = worth[right + j]
            difference = worth[left + j] - other
            worth[here + j] = other + decisions[i, here + j] * difference
            result[i, row, here + j] = reach[i, here + j] * difference * slopes[i, here + j]


@inner
def leaf_columns(i: int, num_trees: int, height: int, decisions: np.ndarray, slopes: np.ndarray, reach: np.ndarray,
                 under: np.ndarray, columns: np.ndarray) -> None:
    """∂p_l/∂z of each ancestor of each leaf, columns[i, 0] (leaf·depth): ±g′ times the factors above and under it.

    `under` is the product of the factors below a depth, grown from the leaves up: never divided, so that it is
    right where a factor is 0.
    """
    leaves, deep, one = at(num_trees << height), at(height), slopes.dtype.type(1)
    for j in range(leaves):
        under[j] = one
    for depth in range(height - 1, -1, -1):
        width = at(num_trees << depth)
        here = width - at(num_trees)
        left = at(0)
        while left < leaves:  # blocks of leaves whose later turns are the same
            right = left + width
            for j in range(width):
                n, slope = decisions[i, here + j], slopes[i, here + j] * reach[i, here + j]
                columns[i, 0, (left + j) * deep + at(depth)] = slope * under[left + j]
                columns[i, 0, (right + j) * deep + at(depth)] = -slope * under[right + j]
                under[left + j] *= n
                under[right + j] *= one - n
            left = right + width


@inner
def read_leaves(logits: np.ndarray, powers: np.ndarray, work: np.ndarray, shares: np.ndarray) -> None:
    """softmax over labels of the leaves' logits, both (label, leaf); for one label they are plain values."""
    kind, (num_labels, leaves) = logits.dtype.type, logits.shape
    zero, one, limit = kind(0), kind(1), kind(80)
    if num_labels == 1:
        for j in range(leaves):
            shares[0, j] = logits[0, j]
    elif num_labels == 2:
        # 1 / (1 + e^d) and its complement e^d / (1 + e^d), d = θ_0 − θ_1, cut off where e^d is no float any more
        for j in range(leaves):
            d = logits[0, j] - logits[1, j]
            work[j] = min(max(d, -limit), limit) if d == d else d
        exponentials(leaves, powers, work)
        for j in range(leaves):
            q = one / (one + work[j])
            shares[0, j] = work[j] * q
            shares[1, j] = q
    else:
        for j in range(leaves):
            most = logits[0, j]
            for label in range(1, num_labels):
                most = max(most, logits[label, j])
            shares[0, j] = most
        for label in range(num_labels - 1, -1, -1):  # the largest logit is kept in the first row, used last
            for j in range(leaves):
                work[j] = logits[label, j] - shares[0, j]
            exponentials(leaves, powers, work)
            for j in range(leaves):
                shares[label, j] = work[j]
        for j in range(leaves):
            total = zero
            for label in range(num_labels):
                total += shares[label, j]
            for label in range(num_labels):
                shares[label, j] /= total
