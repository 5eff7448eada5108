"""The files in examples/, run as their users run them, in one process: each prints what it says it does."""

import json
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
    "restart": ["stopped after 250 rows", "a file of 200 rows", "the same answers as before: True", "400 rows"],
    "own_keras_model": ["a network: accuracy", "it is still yours: (1, 2)", "an encoder and a forest: accuracy"],
    "joint_encoder": ["a forest on the pixels: ", "a convolution and a forest: ", "the same, fairly: ", "(1, 8)"],
    "wandb_logging": ["logged: ", "demographic_parity", "offline run"],
}


def test_no_example_is_forgotten():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)
    folders = {path.parent.name for path in EXAMPLES.glob("*/*.py")}
    assert folders == {"service"}  # which is run by tests/service


@pytest.mark.as_users
@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs_and_tells_what_it_found(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = EXAMPLES / f"{name}.py"
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    for words in EXPECTED[name]:
        assert words in printed, printed
    if name == "joint_encoder":
        right, apart = (list(map(float, re.findall(rf"([\d.]+) {words}", printed))) for words in ("% right", "points"))
        assert right[1] > right[0] + 20 and apart[2] < apart[1] - 4  # the encoder helps, and fairness can be had
    accuracies, gaps = (list(map(float, re.findall(rf"{word}.*? (\d\.\d+)", printed))) for word in ("accuracy", "gap"))
    assert all(0.55 < value < 0.9 for value in accuracies) and all(0 <= value < 0.2 for value in gaps), printed
    assert not list(tmp_path.iterdir())  # nothing is left behind
    assert f"python examples/{name}.py" in path.read_text(encoding="utf-8")


def test_the_notebook_runs_from_top_to_bottom(capsys, monkeypatch):
    """Its cells one after the other, as a kernel runs them: there is no magic in them, and no output is stored."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    notebook = json.loads((EXAMPLES / "quickstart.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    names = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    printed = capsys.readouterr().out
    plt.close("all")
    assert "the same answers, to the last bit: True" in printed
    found = [(int(rows.replace(",", "")), float(accuracy), float(gap)) for rows, accuracy, gap in re.findall(
        r"after ([\d,]+) rows: accuracy (\d\.\d+), gap (\d\.\d+)", printed)]
    assert [rows for rows, *_ in found] == [16_280, 24_420, 32_561]
    assert found[0][1] > 0.8 and found[0][2] > 0.15 and all(gap < 0.12 for *_, gap in found[1:])
    lines = [panel.lines[0].get_xdata() for panel in names["panels"]]
    assert all(list(line) == names["rows"] and len(line) > 60 for line in lines)
