"""The code of docs/live.md about River and scikit-learn, as it stands there."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "live.md").read_text(encoding="utf-8")
SECTION = re.split(r"^## ", PAGE.split("## River and scikit-learn\n", 1)[1], flags=re.MULTILINE)[0]


@pytest.mark.parametrize(("number", "printed"), [(0, r"Accuracy: \d+\.\d+%"), (1, r"\[[01] [01]\] \['f', 'm'\]")])
def test_an_example_of_the_page_runs(number, printed, capsys):
    exec(re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)[number], {})
    assert re.fullmatch(printed, capsys.readouterr().out.strip())


def test_the_page_names_every_check_that_cannot_pass():
    tests = (Path(__file__).parents[1] / "scikit" / "test_scikit_checks.py").read_text(encoding="utf-8")
    declared = set(re.findall(r'"(check_\w+)":', tests))
    assert declared and set(re.findall(r"`(check_\w+)`", SECTION)) == declared | {"check_array_api_input"}
