"""Sums over samples and over cells, in the forms that XLA compiles well: few terms one by one, many as a product."""

import numpy as np
import tensorflow as tf

MANY = 32  # cells or constraints, from which on one product is sooner compiled than its terms


def combine(matrix: np.ndarray, values: tf.Tensor) -> tf.Tensor:
    """A sparse, constant matrix times (k, value); a small one term by term, so that it fuses."""
    if max(matrix.shape) >= MANY:
        return tf.matmul(tf.constant(matrix, values.dtype), values)
    rows = []
    for row in matrix:
        terms = [float(row[k]) * values[k] for k in np.flatnonzero(row)]
        rows.append(sum(terms[1:], terms[0]))
    return tf.stack(rows)


def sum_over_cells(coefficients: tf.Tensor, means: tf.Tensor) -> tf.Tensor:
    """Σ_cell coefficient·mean; a few cells term by term, so that it fuses with its use."""
    if coefficients.shape[0] >= MANY:
        return tf.reduce_sum(coefficients * means, axis=0)
    terms = [coefficients[cell] * means[cell] for cell in range(coefficients.shape[0])]
    return sum(terms[1:], terms[0])


def share_out(shares: tf.Tensor, per_sample: tf.Tensor) -> tf.Tensor:
    """Σ_batch shares·value: (batch, cell), (batch, ...) → (cell, ...)."""
    if shares.shape[0] == 1:
        return tf.reshape(shares, (-1,) + (1,) * (per_sample.shape.rank - 1)) * per_sample
    return tf.einsum("bc,b...->c...", shares, per_sample)
