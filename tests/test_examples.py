"""The files in examples/, run as their users run them, in one process: each prints what it says it does."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
# What each prints; numbers are looked at below.
EXPECTED = {
    "quickstart": ["Stream('adult', 32,561 rows", "λ = 0 ", "λ = 0.1", "first three rows"],
    "own_table": ["one 0/1 feature each", "spring: 6,000 rows", "spring and summer: 7,000 rows", "a teacher of 41",
                  "then learned: 7,001 rows"],
    "grove": ["fairness_weight", "chosen: λ = ", "tomorrow, 1,185 rows"],
    "service": ["stopped after 250 rows", "a file of 200 rows", "the same answers as before: True", "400 rows"],
    "own_keras_model": ["a network: accuracy", "it is still yours: (1, 2)", "an encoder and a forest: accuracy"],
    "wandb_logging": ["logged: ", "demographic_parity", "offline run"],
}


def test_no_example_is_forgotten():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.xla  # as users run them, and a long stream is sooner done
@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs_and_tells_what_it_found(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = EXAMPLES / f"{name}.py"
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    for words in EXPECTED[name]:
        assert words in printed, printed
    accuracies, gaps = (list(map(float, re.findall(rf"{word}.*? (\d\.\d+)", printed))) for word in ("accuracy", "gap"))
    assert all(0.55 < value < 0.9 for value in accuracies) and all(0 <= value < 0.2 for value in gaps), printed
    assert not list(tmp_path.iterdir())  # nothing is left behind
    assert f"python examples/{name}.py" in path.read_text(encoding="utf-8")
