"""The soft-routed oblique forest: Definition 2, Section 3.4 and Appendix D.3. It knows nothing of fairness."""
