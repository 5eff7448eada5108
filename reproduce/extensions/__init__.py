"""Your own methods, rules and datasets: every file here is read whenever an experiment is made, in every process.

docs/extending.md shows a whole file of each kind. A method that is registered here joins Figure 2, `matched` and the
sweeps; one in `reproduce/methods/` is known to experiments and sweeps only. Files that begin with _ are not read.
"""
