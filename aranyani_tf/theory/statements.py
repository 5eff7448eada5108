"""Every statement of the paper's theory with its place, its verdict and the case that shows it, for docs and tests."""

from collections.abc import Callable
from typing import NamedTuple

from aranyani_tf.theory import counterexamples as cases
from aranyani_tf.theory.counterexamples import Case


class Statement(NamedTuple):
    """One statement.

    Args:
        name, place: what the paper calls it, and where it is.
        printed: the bound as printed.
        holds: whether that one is true.
        corrected: one that is true, and where the printed one is too, a smaller one.
        case: the counter-example, or where the printed bound holds, a case that is near the bounds; None if neither.
        test: where the search for violations and the case are run.
        claimed: False for what the paper does not say, and a reader may think.
    """

    name: str
    place: str
    printed: str
    holds: bool
    corrected: str
    case: Callable[[], Case] | None
    test: str
    claimed: bool = True


PARITY, ERRORS, NORMS, TREE = (f"tests/theory/test_{name}.py" for name in ("parity", "errors", "norms", "smoothness"))

STATEMENTS = (
    Statement("Proposition 1", "Appendix A.2", "|Πp − Πq| ≤ Σ|p − q|", True, "the same", None,
              f"{PARITY}::test_products_differ_by_less_than_their_factors"),
    Statement("Lemma 1", "Section 4, Appendix A.2", "DP ≤ h·2^h·ε", True, "DP ≤ R_θ·min{2^h − 1, 2h}·ε",
              cases.parity_at_height_one, f"{PARITY}::test_no_tree_breaks_the_parity_bounds"),
    Statement("Lemma 1 for the trained gap F", "Section 4, below Lemma 1",
              "DP ≤ h·2^h·max|F| (not said: F is called weaker)", False, "none in F alone for h ≥ 2",
              cases.parity_with_equal_means, f"{PARITY}::test_equal_means_at_every_node_do_not_bound_parity",
              claimed=False),
    Statement("Lemma 2", "Section 4, Appendix A.3", "R̂_n ≤ 2^h/√n", False,
              "R̂_n ≤ √(2 + R_θ²/8)·((2^h − 1)RB + 2^(h−1)·R_θ)/√n", cases.complexity_of_one_node,
              f"{TREE}::test_one_node_fits_any_signs"),
    Statement("Lemma 3", "Section 4, Appendix A.4", "‖∇H(F) − ∇H(F̂)‖ ≤ δB/2", False, "δB",
              cases.error_of_a_flipped_past, f"{ERRORS}::test_a_flipped_past_breaks_lemma_3"),
    Statement("Lemma 4", "Appendix A.4", "‖∇F − ∇F̂‖ ≤ min{B/4, 2·L_g·R}, L_g = (2√3 − 3)/18", False,
              "2B(1/4 − σ′(BR)) ≤ min{B/2, 2·L_g·B²·R}, L_g = 1/(6√3)", cases.error_of_a_saturated_past,
              f"{ERRORS}::test_a_saturated_past_breaks_lemma_4"),
    Statement("Bias of the gradient", "Appendix A.5", "‖b‖ ≤ 2^(h−1)·λδB", True, "√(2^h − 1)·λδB",
              cases.bias_of_a_flipped_past, f"{ERRORS}::test_no_past_breaks_the_corrected_bounds"),
    Statement("Theorem 1: the noise", "Section 4, Appendix A.5",
              "mean E‖Ĝ‖² ≤ ε + 2^(2h−2)·λ²δ²B²", False,
              "of G, not Ĝ: 2F/(Tγ) + (2^h − 1)λ²δ²B² + γLσ²", cases.norm_at_the_optimum,
              f"{NORMS}::test_noise_breaks_theorem_1_at_the_optimum"),
    Statement("Theorem 1: the steps", "Section 4, Appendix A.5",
              "for γ ≤ γ₀ = min{1/((M+1)L), ε/(2Lσ²)}, T ≥ max{4FL(M+1)/ε, 4FLσ²/ε²}", False,
              "ε + (2^h − 1)λ²δ²B² for γ = γ₀ and T ≥ 4F/(γ₀ε)", cases.norm_without_movement,
              f"{NORMS}::test_small_steps_break_theorem_1"),
    Statement("Lemma 5: the task", "Appendix A.6", "K_t = √2 for cross-entropy with softmax", False, "√(hB² + 2)",
              cases.norm_of_a_surprise, f"{NORMS}::test_a_surprise_breaks_the_task_s_part_of_lemma_5"),
    Statement("Lemma 5: fairness", "Appendix A.6", "2^(h−2)·λδB", True, "√(2^h − 1)·λδB/2",
              cases.fairness_norm_of_opposites, f"{NORMS}::test_no_weights_break_the_gradient_s_bounds"),
    Statement("Lemma 6: K_f", "Appendix A.6", "K_f = 2^(h−2)·hB", True, "R_θ·B/4", cases.slope_of_one_node,
              f"{TREE}::test_no_tree_is_steeper_or_more_curved_than_the_bounds"),
    Statement("Lemma 6: L_f", "Appendix A.6", "L_f = 2^(h−4)·h(h+1)·B²", True, "R_θ·B²·min{1/(6√3) + (h − 1)/8, 1/4}",
              cases.curvature_of_one_node, f"{TREE}::test_no_tree_is_steeper_or_more_curved_than_the_bounds"))
