"""The table of statements: its verdicts are those of its cases, and the tests that it names are there."""

from pathlib import Path

import pytest

from aranyani_tf.theory.statements import STATEMENTS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_a_verdict_is_that_of_its_case(statement):
    file, _, name = statement.test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
    if statement.case is None:
        assert statement.holds
        return
    case = statement.case()
    assert case.measured <= case.corrected * (1 + 1e-12)
    assert case.breaks_printed != statement.holds or case.measured == pytest.approx(case.printed)


def test_every_numbered_statement_of_the_paper_is_there():
    names = " ".join(statement.name for statement in STATEMENTS)
    for name in ("Proposition 1", "Theorem 1", "Bias", *(f"Lemma {number}" for number in range(1, 7))):
        assert name in names
    assert sum(not statement.holds for statement in STATEMENTS) == 7
