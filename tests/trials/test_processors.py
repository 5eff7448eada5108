"""Runs that differ by the kind of processor are compared for what they are."""

import numpy as np

from trials import processors


def run(shift=0.0):
    """Three answers; the last of them is about even."""
    return {"said": np.array([[0.2, 0.8], [0.7, 0.3], [0.4999 + shift, 0.5001 - shift]]), "0": np.ones(2) + shift,
            "so_far": np.array([0.8, 0.1])}


def test_a_run_beside_itself_is_the_same_and_beside_another_as_far_as_it_is():
    same = processors.compared(run(), run())
    assert same["same_bytes"] and same["other_decisions"] == 0 and same["first_row_over_a_thousandth"] is None
    other = processors.compared(run(0.002), run())
    assert not other["same_bytes"] and other["other_decisions"] == 1 and other["first_row_over_a_thousandth"] == 2
    assert np.isclose(other["largest_difference_of_weights"], 0.002) and other["accuracy"] == 0.8
