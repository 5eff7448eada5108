"""The statements of Section 4 and Appendix A, each by its case: what is measured, against the bound as printed."""

import numpy as np

from aranyani_tf.theory.statements import STATEMENTS
from harness.plots import select
from ledger.claim import HOLDS, NOT, PART, Judgement, claim, plain_number

DRAWS = 100_000


def largest_excess_of_products() -> float:
    """Proposition 1 over many draws: the largest |Πp − Πq| − Σ|p − q| for up to six factors."""
    random, worst = np.random.default_rng(0), -np.inf
    for count in range(1, 7):
        p, q = random.beta(0.3, 0.3, (2, DRAWS, count))
        worst = max(worst, float((abs(p.prod(axis=1) - q.prod(axis=1)) - abs(p - q).sum(axis=1)).max()))
    return worst


for _statement in (each for each in STATEMENTS if each.claimed):
    @claim(_statement.name.lower().translate({ord(" "): "-", ord("_"): "-", ord(":"): None}), _statement.place,
           f"{_statement.name}: {_statement.printed}",
           f"aranyani_tf.theory, searched by {_statement.test.split('::')[0]}", _statement.printed,
           "" if _statement.holds else f"what holds: {_statement.corrected}")
    def bound(results, statement=_statement):
        if statement.case is None:
            excess = largest_excess_of_products()
            return Judgement(f"{6 * DRAWS:,} random draws exceed it by {max(excess, 0):.3g}",
                             plain_number(excess), HOLDS if excess <= 1e-12 else NOT)
        case = statement.case()
        told = (f"a case has {case.measured:.4g}, the printed bound is {case.printed:.4g}, the corrected one "
                f"{case.corrected:.4g}")
        return Judgement(told, plain_number(case.measured), NOT if case.breaks_printed else HOLDS)


@claim("full-gradient-converges", "Section 4, Section 5.3", "The mean squared norm of the exact gradient falls (SGD)",
       "theory.csv, panel d: mean of ‖G‖² over the steps so far, at the end ÷ at the beginning; below a "
       "half", "converges",
       "SGD, as the theorem has it, one tree on Adult, one seed; the paper shows Adam's one-sample gradients")
def full_gradient(results):
    norms = select(results["theory"], panel="d", quantity="mean_squared_gradient_norm").sort_values("step")["value"]
    ratio = norms.iloc[-1] / norms.iloc[0]
    return Judgement(f"{norms.iloc[0]:.3g} → {norms.iloc[-1]:.3g}: {ratio:.2f} of it", plain_number(ratio),
                     HOLDS if ratio < 0.5 else PART if ratio < 1 else NOT)
