"""Which rows of a stream to take, and in which order: row numbers, as pure functions of a seed."""

import numpy as np

from aranyani_tf.arguments import require_choice, require_number, require_seed, require_whole
from aranyani_tf.errors import ArgumentError


def shuffled_order(num_rows: int, seed: int | None) -> np.ndarray:
    """All rows in a random order; the same seed gives the same order."""
    require_seed(seed)
    return np.random.default_rng(seed).permutation(num_rows)


def adversarial_order(labels: np.ndarray, first: str) -> np.ndarray:
    """90 % of one class, then all of the other, then the remaining 10 %; rows of a label keep their order."""
    require_choice("first", first, ("majority", "minority"))
    counts = [int((labels == label).sum()) for label in (0, 1)]
    if min(counts) == 0 or sum(counts) < len(labels):
        raise ArgumentError("an adversarial order needs rows of the labels 0 and 1, and no others; of these there "
                            f"are {counts} among {len(labels):,} rows")
    majority = int(np.argmax(counts))
    opening = majority if first == "majority" else 1 - majority
    own, other = (np.flatnonzero(labels == label) for label in (opening, 1 - opening))
    cut = round(0.9 * len(own))
    return np.concatenate([own[:cut], other, own[cut:]])


def part_of_rows(num_rows: int, share: float, seed: int | None) -> np.ndarray | slice:
    """The first `share` of the rows; with a seed, a random choice of as many, in their order."""
    require_number("share", share, 0, 1, above=True)
    require_seed(seed)
    count = max(round(share * num_rows), 1)
    if seed is None:
        return slice(count)
    return np.sort(np.random.default_rng(seed).choice(num_rows, count, replace=False))


def rows_set_aside(num_rows: int, share: float, seed: int | None) -> np.ndarray:
    """A mask of a random `share` of the rows; some are left over."""
    require_seed(seed)
    try:
        require_number("share", share, 0, 1, above=True, below=True)
        count = max(round(share * num_rows), 1)
        require_whole("rows", num_rows - count, 1)
    except ArgumentError:
        raise ArgumentError("share must lie between 0 and 1 and leave a row to learn from, got "
                            f"{share!r} of {num_rows} rows") from None
    aside = np.zeros(num_rows, bool)
    aside[np.random.default_rng(seed).choice(num_rows, count, replace=False)] = True
    return aside
