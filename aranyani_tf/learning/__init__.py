"""One step of the online learner, and the walk of a chunk through it: Algorithm 1 and Equation 5."""
