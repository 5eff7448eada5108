"""What is fair, and what is remembered of the past for it: Sections 3.1 to 3.3 and Appendix C."""

from aranyani_tf.fairness import forest_levels, output_level  # noqa: F401  constraints by name
