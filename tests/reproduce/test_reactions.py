"""How `make reactions` measures, against sums by hand; and that its page and its records are what was run."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
import reactions
from aranyani_tf.baselines.adwin_reset import AdwinReset
from harness import RESULTS, plots, reaction_measures, reaction_runs, reaction_table, readings, registry, scales
from harness.intervals import Interval


def test_gaps_of_sliding_windows_are_those_counted_one_by_one():
    random = np.random.default_rng(0)
    decisions, groups = random.integers(0, 2, 60), random.integers(0, 2, 60)
    found = reaction_measures.sliding(decisions, groups, 7)
    for row in range(60):
        window = slice(max(row - 6, 0), row + 1)
        parts = [decisions[window][groups[window] == group] for group in (0, 1)]
        gap = abs(parts[1].mean() - parts[0].mean()) if all(map(len, parts)) else np.nan
        np.testing.assert_allclose(found.gap[row], gap)
    rates, own = np.full(400_000, 0.3), np.arange(400_000) % 4 == 0
    drawn = reaction_measures.sliding((random.random(400_000) < rates).astype(int), own.astype(int), 400)
    assert drawn.gap[399::400].mean() == pytest.approx(np.nanmean(drawn.by_chance[399::400]), rel=0.1)


@pytest.mark.parametrize(("gaps", "rows"), [
    ([.01] * 10, 0), ([.2] * 4 + [.05] * 6, 2), ([.2] * 7 + [.01] * 3, 5), ([.2] * 8 + [.01] * 2, np.nan),
    ([.01] * 4 + [.2] * 2 + [np.nan, .01, .01, .01], 5), ([.2] * 10, np.nan)])
def test_time_to_recover_by_hand(gaps, rows):
    found = reaction_measures.rows_to_recover(np.array(gaps), change=2, end=10, hold=3)
    np.testing.assert_equal(found, float(rows))


def test_what_a_run_records_adds_up(monkeypatch):
    for module in (reaction_runs, reaction_measures):
        monkeypatch.setattr(module, "WINDOW", 10)
    groups, decisions = np.tile([0, 1], 30), np.ones(60, int)
    decisions[24:40:2] = 0  # from row 24 on group 0 gets nothing, for 16 rows
    rows = ar.Stream(np.zeros((60, 1), "float32"), np.ones(60, int), groups)
    found = reaction_runs.recorded(decisions, rows, np.array([25]), np.array([3, 30]))
    assert found["step"].tolist() == [10, 20, 25, 35, 45, 55, 60]
    assert found["since"].tolist() == [10, 20, 25, 10, 20, 30, 35]
    assert found["window_gap"].round(3).tolist() == [0, 0, .2, 1, .4, 0, 0]
    assert found["accuracy"].iloc[-1] == pytest.approx(52 / 60)
    assert found["demographic_parity"].iloc[-1] == pytest.approx(8 / 30)
    assert found["alarms"].tolist() == [1, 1, 1, 2, 2, 2, 2] and set(found["false_alarms"]) == {1}
    behind = found[found["change"].notna()]
    assert len(behind) == 4 and set(behind["change"]) == {25}
    assert set(behind["recovered"]) == {23}  # the window of the rows 39 to 48 is the first without such a row
    assert behind["recovered_wide"].isna().all()


def test_changes_are_where_the_streams_change():
    swap, *_ = (each for each in reaction_runs.reactions() if each.dataset == "synthetic")
    stream = swap.stream()
    assert swap.changes(stream).tolist() == [10_000] and len(stream) == 20_000
    drawn = swap.in_order_of(1, stream)
    rates = [drawn.labels[part][drawn.groups[part] == 0].mean() for part in (slice(0, 10_000), slice(10_000, None))]
    assert abs(rates[0] - rates[1]) > 0.1
    labels = np.random.default_rng(0).random(3000) < np.repeat([0.1, 0.5], [2000, 1000])
    assert abs(reaction_measures.split_of_labels(labels.astype(int)) - 2000) < 30


def test_reactions_are_what_they_are_called():
    stream = ar.datasets.load("synthetic", num_rows=50)
    made = {name: registry.method(name).make(stream, 0, registry.method(name).fairness_weights[0])
            for name in reaction_runs.REACTIONS}
    assert [made[f"react_decay_{each}"].decay for each in (1, 3, 10)] == [0.001, 0.003, 0.01]
    assert made["react_target"].parity_target.target == 0.05 and made["react_target"].decay == 0.01
    assert made["react_never"].decay is None and made["react_never"].fairness_weight == 1
    assert made["react_without"].fairness_weight == 0
    assert [made[f"react_adwin_{watch}"].watch for watch in ("error", "gap")] == ["error", "gap"]
    plain = [model.model if isinstance(model, AdwinReset) else model for model in made.values()]
    assert {model.level for model in plain} == {"output"} and {model.penalty.linear_slope for model in plain} == {1.0}
    assert not any(registry.method(name).field for name in made)


def test_a_few_rows_from_start_to_end():
    runs = [each for each in reaction_runs.reactions(scales.TINY) if each.dataset == "synthetic"]
    assert [each.method for each in runs] == list(reaction_runs.REACTIONS)
    found = runs[-1].run()
    assert found["step"].tolist() == [150, 300] and found["change"].iloc[-1] == 150
    assert found["accuracy"].between(0, 1).all() and set(found["method"]) == {"react_adwin_gap"}
    assert runs[-1].key != replace(runs[-1], seeds=(1,)).key


def test_what_the_page_says_in_words_holds_for_the_committed_numbers():
    decays, adwins = ("react_decay_1", "react_decay_3", "react_decay_10"), ("react_adwin_error", "react_adwin_gap")
    streams = reaction_table.here(pd.read_csv(RESULTS / "reactions.csv"))
    gaps, alarms, above = {}, {}, {}
    for title, rows in streams.items():
        seeds = {name: reaction_table.by_seed(own) for name, own in rows.groupby("method")}
        gaps[title.split()[0]] = {(one, other): Interval.of_difference(seeds[one]["window_gap"],
                                                                       seeds[other]["window_gap"])
                                  for one in seeds for other in seeds}
        alarms[title.split()[0]] = {name: seeds[name][["alarms", "false_alarms"]].mean() for name in adwins}
        above[title.split()[0]] = {name: seeds[name]["share_above"].mean() for name in seeds}
    for name, found in gaps.items():
        assert all(found[each, "react_never"].below_zero for each in decays), name
        assert not any(found[each, "react_decay_3"].below_zero for each in adwins), name
        close = found["react_decay_10", "react_decay_3"]
        assert not (close.below_zero or close.above_zero), name
    swap, bank, acs = gaps.values()
    assert bank["react_never", "react_without"].above_zero and swap["react_decay_1", "react_decay_3"].above_zero
    assert all(acs[each, "react_decay_3"].above_zero for each in adwins)
    assert bank["react_adwin_gap", "react_decay_3"].above_zero
    others = {one for one, _ in swap} - {"react_target"}
    assert all(found["react_target", other].below_zero for found in (swap, acs) for other in others)
    assert all(bank["react_target", each].above_zero for each in decays)
    assert alarms["Synthetic,"]["react_adwin_error"]["false_alarms"] > 0.5 * alarms["Synthetic,"][
        "react_adwin_error"]["alarms"] and alarms["Bank"]["react_adwin_gap"]["alarms"] < 1
    assert all((above["ACS"][name] > 0.5) == (name != "react_target") for name in above["ACS"])
    acs_rows = streams["ACS by year, disability"].query("change.isna() and step >= 2000")
    before = acs_rows.assign(above=acs_rows["wide_gap"] > 0.05).groupby("method")["above"].mean()
    assert (before[list(others)] > 0.5).all() and before["react_target"] < 0.5
    back = plots.select(streams["Synthetic, groups swap"].drop_duplicates(["method", "seed", "change"]), change=10_000)
    assert (back.fillna({"recovered": np.inf}).groupby("method")["recovered"].median() > 2000).all()


def test_the_committed_section_is_what_the_committed_numbers_say():
    records = pd.read_csv(RESULTS / "reactions.csv")
    reading = reactions.read(records)
    sections = readings.read_sections((RESULTS / "README.md").read_text(encoding="utf-8"))
    assert reading in sections["reactions"] and "nan" not in reading
    runs = records.drop_duplicates(["dataset", "method", "seed"])
    assert len(runs) == len(reaction_runs.STREAMS) * len(reaction_runs.REACTIONS) * len(scales.FIVE)
    assert len(reaction_table.table(records)) == 2 + len(reaction_runs.STREAMS) * len(reaction_runs.REACTIONS)
    titles = [axes.get_title() for axes in reactions.draw(records).axes]
    assert titles == list(reaction_runs.STREAMS)
