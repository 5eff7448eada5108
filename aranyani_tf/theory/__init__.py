"""The paper's Section 4 and Appendix A: one soft tree in NumPy, bounds as printed and as they hold, counter-examples."""
