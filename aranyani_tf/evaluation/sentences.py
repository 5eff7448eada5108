"""What users should know of their stream, in a sentence each, from the table of counts (see `metrics`)."""

import numpy as np

FEW = 1000  # rows below which nothing is said about small groups


def told_small_groups(counts: np.ndarray, deviations: float = 2.0, matters: float = 0.05) -> str | None:
    """A sentence about groups whose gap cannot be told from chance because they are small, or None.

    A group is small if its share of a prediction may be off by more than `matters`, by so many standard
    errors of the share that all rows have, and is not off by more than that.
    """
    table = counts[:, :-1].sum(axis=0)  # (group, prediction)
    rows, everybody = table.sum(axis=1), table.sum(axis=0) / max(table.sum(), 1)
    found = []
    for group in np.flatnonzero(rows):
        chance = deviations * np.sqrt(everybody * (1 - everybody) / rows[group])
        gap = np.abs(table[group] / rows[group] - everybody)
        if chance.max() > matters and (gap <= chance).all():
            found.append(f"group {group} has {rows[group]:,.0f} row{'s' if rows[group] != 1 else ''}, "
                         f"± {chance.max():.2f}")
    if not found or rows.sum() < FEW:
        return None
    return (f"too few rows to tell a gap from chance ({deviations:g} standard errors): {'; '.join(found)}. The gaps "
            "that are reported may be theirs; chance=2.0 keeps such gaps out of the training, a group of −1 the rows")


def told_signs(counts: np.ndarray) -> str | None:
    """A sentence about labels that came as 1 or missing and never as 0, or None: they may be −1 and 1."""
    of_label = counts.sum(axis=(1, 2))
    if len(of_label) != 3 or of_label[0] or not (of_label[1] and of_label[2]):
        return None
    return (f"of {of_label.sum():,.0f} labels {of_label[1]:,.0f} were 1, the others −1, and none 0. −1 stands for a "
            "missing label; if it is the other label, use 0 for it: labels = (labels + 1) // 2")
