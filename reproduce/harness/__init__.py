"""What all figures share: experiments, their grids and methods, runs, plots, readings, and where results come from."""
