"""What all figures share: experiments, their grids and methods, runs, plots, readings, and where results come from."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
