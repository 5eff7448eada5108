"""The interval that may be looked at after every row: how often it is wrong, beside one for a single look."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aranyani_tf.evaluation import metrics
from aranyani_tf.evaluation.gap_interval import BOLDNESS, GapInterval, log_money, rate_bounds
from benchmarks.monitor import KINDS, LEVEL, running, streams, wrong_streams


@pytest.mark.parametrize("kind", KINDS)
def test_looked_at_after_every_row_it_is_wrong_in_fewer_streams_than_it_says_and_a_usual_one_in_many_more(kind):
    wrong, wrong_usual = wrong_streams(kind, 400, 1000, seed=0)
    assert wrong <= LEVEL * 400
    assert wrong_usual > 3 * LEVEL * 400


@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_is_inside_after_every_row_in_almost_all_streams(kind):
    interval, wrong, num_streams = GapInterval("demographic_parity", 2, 2, 1, LEVEL), 0, 25
    decisions, rates = streams(kind, num_streams, 120, seed=9)
    ones, rows = running(decisions)
    truth = np.abs(np.diff(running(rates)[0] / rows))[..., 0]
    for stream in range(num_streams):
        for row in range(120):
            low, high = interval.bounds(table(ones[stream, row], row + 1))
            if not low <= truth[stream, row] <= high:
                wrong += 1
                break
    assert wrong <= LEVEL * num_streams


def table(ones, rows):
    """Decisions without labels of some groups, as counts."""
    counts = np.zeros((3, len(ones) + 1, 2))
    counts[-1, :-1] = np.stack([rows - np.asarray(ones), ones], axis=1)
    return counts


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=9), st.floats(0.01, 0.5))
@settings(max_examples=60, deadline=None)
def test_over_all_possible_streams_the_money_grows_in_expectation_by_nothing(rates, level):
    """Each stream with its probability: exactly 1 where the rate is constant, no more where it drifts."""
    rates = np.array(rates)
    rows = np.arange(1, len(rates) + 1)
    decisions = np.array(list(itertools.product([0, 1], repeat=len(rates))))
    probability = np.where(decisions, rates, 1 - rates).prod(axis=1)
    money = np.exp(log_money(decisions.cumsum(axis=1), rows, rates.cumsum() / rows))
    assert probability @ money[:, -1] <= 1 + 1e-9
    assert probability @ (money > 1 / level).any(axis=1) <= level
    constant = np.where(decisions, rates[0], 1 - rates[0]).prod(axis=1)
    assert constant @ np.exp(log_money(decisions.sum(axis=1), rows[-1], rates[0])) == pytest.approx(1)


def test_the_money_is_that_of_gamblers_who_bet_row_by_row():
    decisions, rate = np.random.default_rng(0).integers(0, 2, 60), 0.3
    purses = np.ones_like(BOLDNESS)
    for decision in decisions:
        purses *= np.exp(BOLDNESS * decision) / (1 - rate + rate * np.exp(BOLDNESS))
    assert np.exp(log_money(decisions.sum(), 60, rate)) == pytest.approx(purses.mean())


@given(st.integers(0, 10**9), st.floats(0, 1), st.floats(1e-6, 0.9))
@settings(max_examples=100, deadline=None)
def test_the_ends_are_where_the_money_reaches_its_bound(rows, share, level):
    ones = np.round(share * rows)
    low, high = rate_bounds(ones, rows, level)
    assert 0 <= low <= high <= 1 and (rows == 0 or low <= ones / rows <= high)
    middle = ones / rows if rows else 0.5
    for end in (low, high):
        assert end in (0, 1) or log_money(ones, rows, end) > -np.log(level)
        inside = end + np.clip(middle - end, -1e-7, 1e-7)
        assert log_money(ones, rows, inside) <= -np.log(level)


def test_it_narrows_as_rows_come_and_is_about_twice_as_wide_as_one_for_a_single_look():
    rows = 10.0 ** np.arange(2, 8)
    low, high = rate_bounds(0.2 * rows, rows, LEVEL)
    usual = 2 * 1.96 * np.sqrt(0.2 * 0.8 / rows)
    assert ((high - low) / usual < 2.2).all() and ((high - low) / usual > 1.4).all()


@pytest.mark.parametrize(("notion", "num_labels"), [("demographic_parity", 3), ("equal_opportunity", 2),
                                                    ("equalized_odds", 2), ("equalized_odds", 3)])
def test_the_gap_s_ends_are_those_of_all_pairs_of_rates_inside_their_intervals(notion, num_labels):
    counts = np.random.default_rng(1).integers(0, 40, (num_labels + 1, 4, num_labels)).astype(float)
    counts[:, 2] = 0  # a group that never came
    interval, lows, highs = GapInterval(notion, num_labels, 3, 1, LEVEL), [], []
    given_labels = {"demographic_parity": [slice(None)], "equal_opportunity": [slice(1, 2)],
                    "equalized_odds": [slice(label, label + 1) for label in range(num_labels)]}[notion]
    decisions = [1] if num_labels == 2 else range(num_labels)
    size = len(given_labels) * len(decisions) * 3
    for labels, decision in itertools.product(given_labels, decisions):
        ends = {}
        for group in (0, 1):
            of_group = counts[labels, group].sum(axis=0)
            ends[group] = rate_bounds(of_group[decision], of_group.sum(), LEVEL / size)
        for one, other in ((0, 1), (1, 0)):
            lows.append(ends[one][0] - ends[other][1])
            highs.append(ends[one][1] - ends[other][0])
    assert interval.bounds(counts) == pytest.approx((max(0, *lows), min(1, max(highs))))
    gap = getattr(metrics, notion)(counts)
    assert interval.bounds(counts)[0] <= float(gap) <= interval.bounds(counts)[1]
    assert not interval.exceeds(counts, float(gap)) and not interval.exceeds(counts, 0.9)


def test_while_one_group_was_seen_nothing_is_known():
    interval = GapInterval("demographic_parity", 2, 3, 1, LEVEL)
    assert interval.bounds(np.zeros((3, 4, 2))) == (0, 1)
    assert interval.bounds(table([50, 0, 0], np.array([100, 0, 0]))) == (0, 1)
    low, high = interval.bounds(table([90, 0, 100], np.array([100, 0, 1000])))
    assert 0.4 < low < 0.8 < high < 1


def test_a_single_row_of_a_group_does_not_make_a_gap_of_one_group_with_itself():
    low, high = GapInterval("demographic_parity", 2, 2, 1, LEVEL).bounds(table([50_000, 1], np.array([100_000, 1])))
    assert low == 0 and 0.5 < high < 0.6
