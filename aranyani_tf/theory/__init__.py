"""Section 4 and Appendix A of the paper: a soft tree in NumPy, bounds as printed and as they hold, counter-examples."""
