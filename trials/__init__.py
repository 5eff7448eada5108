"""Trials: the software used hard, for long, and wrongly; each script writes a table into results/."""
