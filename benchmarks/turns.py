"""Contenders in turns, round after round, and programs in processes of their own."""

import subprocess
import sys

import numpy as np


def best_of(rounds, one_round):
    """The least that each contender needed in any round.

    What else a machine does makes a learner slower, never faster, so the least is the nearest to what it needs.

    Args:
        rounds: how many.
        one_round: measures all contenders in turn, so that a busy machine disturbs them alike; gives a dict of
            numbers, or of arrays of which each number has its own least.
    """
    found = [one_round() for _ in range(rounds)]
    return {contender: np.min([times[contender] for times in found], axis=0) for contender in found[0]}


def output_of(program, *arguments, environment=None):
    """What a program, given as text, prints in a fresh process."""
    result = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True,
                            env=environment)
    if result.returncode:
        raise RuntimeError(f"a program of the benchmark failed:\n{result.stderr}")
    return result.stdout
