"""Numbers on the pages are those of the committed results, and the benchmark measures all that they tell."""

import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest

import forked
from benchmarks import names
from prepare import inline_numbers, numbers

ROOT = Path(__file__).parents[2]


YARDSTICK = """
import numpy as np

def state(num_trees, height, num_inputs):
    return [np.zeros((num_inputs, 1)), np.zeros(1)]

def walk(num_trees, height, inputs, labels, groups, weights, steps, weight, delta, slope, rate, outputs):
    assert (inputs[:, -1] == 1).all() and set(labels) | set(groups) <= {0, 1} and len(outputs) == len(inputs)
    steps += len(inputs @ weights)
"""


@pytest.mark.parametrize(("page", "opening", "write"), numbers.BLOCKS)
def test_what_is_written_on_a_page_is_what_the_sources_say(page, opening, write):
    text = (ROOT / page).read_text(encoding="utf-8")
    content = numbers.content_of(opening, write, ROOT / "results")
    assert "nan" not in content and (len(content) > 100 or content.startswith("*Not run"))
    assert text == numbers.with_block(text, opening, content), "run `make numbers`"


@pytest.mark.parametrize("page", inline_numbers.PAGES)
def test_the_numbers_inside_a_page_s_sentences_are_those_of_the_results(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(inline_numbers.PATTERN.findall(text)) > 10 and ">nan<" not in text and "nan to" not in text
    assert text == inline_numbers.with_numbers(text, ROOT / "results"), "run `make numbers`"


def test_a_number_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="asks for 'guess adult'; known are at, "):
        inline_numbers.with_numbers("<!--guess adult-->1<!--/-->", ROOT / "results")
    with pytest.raises(ValueError, match=r"'at mars 0.05 leaf', which the results do not have"):
        inline_numbers.with_numbers("<!--at mars 0.05 leaf-->1<!--/-->", ROOT / "results")


def test_a_page_without_its_place_is_refused():
    with pytest.raises(ValueError, match="has no place"):
        numbers.with_block("no comments here", "written", "1")


def test_one_run_of_the_benchmark_has_every_measure_and_the_pages_are_written_from_it(tmp_path):
    (tmp_path / "sketch.py").write_text(YARDSTICK)
    done = forked.python(ROOT / "benchmarks" / "speed.py", "--scale", "0.001", "--rounds", "1", "--widths", "14",
                         "--output", "benchmark.csv", "--yardstick", "sketch.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "benchmark.csv")
    assert list(found["measure"].unique()) == ["throughput", "latency", "pipeline", "grove", "height", "length",
                                               "first_call", "compilations"]
    measures = dict(list(found.groupby("measure")))

    rates = measures["throughput"]
    assert (rates["rows_per_second"] > 0).all() and set(rates["num_features"]) == {14}
    ours = rates[rates["contender"] == names.FIT].set_index(["num_features", "level", "engine"])
    assert len(ours) == 3 * 2 and ours["ratio_to_xla"].notna().sum() == 3
    by_hand = ours.loc[14, "leaf", "numba"]["rows_per_second"] / ours.loc[14, "leaf", "xla"]["rows_per_second"]
    assert ours.loc[14, "leaf", "numba"]["ratio_to_xla"] == pytest.approx(by_hand, abs=0.01)
    assert (rates["contender"] == names.SKETCH).sum() == 1 == rates["ratio_to_yardstick"].notna().sum()
    assert (rates[rates["contender"] == names.HOEFFDING]["ratio_to_hoeffding_tree"] == 1).all()

    latency = measures["latency"]
    assert (latency["p99_microseconds"] >= latency["p50_microseconds"]).all() and len(latency) == 11
    medians = latency.set_index(["contender", "operation", "num_features"])["p50_microseconds"]
    assert medians[names.LIVE, names.BOTH, 14] < medians[names.MODEL, names.BOTH, 14]
    assert latency["ratio_to_hoeffding_tree"].isna().sum() == 1  # of `partial_fit` alone, which no tree does

    assert (measures["grove"]["cores"] >= 1).all() and (measures["grove"]["ratio_to_single_model"] > 0).all()
    assert list(measures["height"]["height"]) == list(range(2, 11))
    assert list(measures["length"]["num_rows"]) == [10_000, 100_000]
    first = measures["first_call"].set_index(["engine", "num_features"])["first_call_seconds"]
    assert first["numba", 14] < first["xla", 14]
    assert measures["compilations"]["compilations"].tolist() == [1]

    for write in (numbers.speeds, numbers.levels):
        content = write(tmp_path)
        assert "nan" not in content and len(content) > 100
    assert "A Grove of 40 models on" in numbers.speeds(tmp_path)


def test_a_measure_that_nobody_knows_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["speed.py", "--only", "warp"])
    monkeypatch.setattr(sys, "path", sys.path[:])  # to which it adds, and to the environment
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(ROOT / "benchmarks" / "speed.py"), run_name="__main__")
    assert end.value.code == 2 and "no measure 'warp'" in capsys.readouterr().err
