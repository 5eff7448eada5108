"""Majority: the model's prediction with probability p, the more frequent label otherwise.

Nothing is trained: whatever is drawn for a row is independent of the row, so the expected accuracy and
gaps are linear in p, and known from one run of the model.
"""

import numpy as np
import pandas as pd

PROBABILITIES = tuple(np.round(np.linspace(0, 1, 11), 1).tolist())


def majority(records, stream, probabilities=PROBABILITIES):
    """Expected records of the baseline, from the last records of models that learned from `stream`.

    Args:
        records: rows of `Grove.fit` with step = length of the stream.
        stream: for the majority label, which is that of the whole stream, as in the paper.
        probabilities: values of p; 1 is the model itself.

    Returns:
        A data frame like `records` with a column `probability`.
    """
    if not (records["step"] == len(stream)).all():
        raise ValueError(f"records must be those at the end of the stream, step {len(stream):,}")
    labels = stream.labels
    known = labels >= 0
    is_majority = labels == np.bincount(labels[known]).argmax()
    late = np.arange(len(labels)) >= len(labels) // 2
    shares = {"accuracy": is_majority[known].mean(), "late_accuracy": is_majority[known & late].mean()}
    frames = []
    for probability in probabilities:
        frame = records.copy()
        for name in frame.columns:
            if name in shares:
                frame[name] = probability * frame[name] + (1 - probability) * shares[name]
            elif name.endswith(("demographic_parity", "equal_opportunity", "equalized_odds")):
                frame[name] = probability * frame[name]  # one answer for all leaves no gap
        frames.append(frame.assign(probability=probability))
    return pd.concat(frames, ignore_index=True)
