"""The step of `learning.step` once more, for forests alone: one function over rows, compiled by Numba.

TensorFlow's step stays the definition, and serves every learner; this one serves forests, a row in microseconds.
`coverage` says which models it can take, `layout` how their numbers lie, `walk` is the loop.
"""
