"""The field's search: settings are chosen on the first tenth alone, by one rule, and what is compiled is used again."""

import keras
import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
from aranyani_tf.baselines.fabboo import Fabboo
from aranyani_tf.baselines.hoeffding import hoeffding_tree
from aranyani_tf.baselines.mlp import perceptron
from aranyani_tf.errors import DivergedError
from harness import field_measures, registry
from harness.contenders import ADAM_RATES, LEARNING_RATE
from harness.field_choice import Candidate, case_name, choices, chosen
from harness.field_runs import FieldRun
from harness.restart import Restart
from harness.shared_learner import Listener, Shared, shared
from methods.fabboo import fabboo, shared_trees

DP, EO = registry.NOTIONS


def tried(*rows):
    """Candidates by λ, with accuracy and gap on the first tenth."""
    return pd.DataFrame([{"fairness_weight": weight, "first_accuracy": accuracy, f"first_{DP}": gap, f"first_{EO}": gap}
                         for weight, accuracy, gap in rows])


GRID = tried((0.0, 0.85, 0.20), (0.1, 0.83, 0.05), (1.0, 0.80, 0.04), (10.0, 0.76, 0.03), (30.0, np.nan, np.nan))


@pytest.mark.parametrize(("target", "number"), [(0.3, 0), (0.1, 1), (0.05, 1), (0.045, 2), (0.02, 3)])
def test_the_most_accurate_that_kept_the_gap_at_first_is_chosen_or_else_the_fairest_and_never_one_that_diverged(
        target, number):
    assert chosen(GRID, DP, target) == number


def test_among_equals_the_first_value_of_the_knob_is_chosen_which_everybody_else_has():
    assert chosen(tried((0.0, 0.8, 0.05), (0.0, 0.8, 0.05)), DP, 0.1) == 0
    assert chosen(tried((0.0, 0.8, 0.05), (0.0, 0.8, 0.05)), DP, 0.01) == 0


def test_the_told_are_chosen_for_their_notion_the_steered_for_their_target_and_others_for_all():
    candidates = [Candidate(told, target, rate) for rate in (1, 2) for told in (DP, EO) for target in registry.TARGETS]
    known = tried(*((each.fairness_weight, 0.8 + 0.01 * each.knob_value, 0.0) for each in candidates))
    found = choices(known, candidates, registry.method("thresholds"))
    assert len(found) == 6 and all(candidates[number].knob_value == 2 for number in found)
    for number, cases in found.items():
        assert cases == case_name(candidates[number].told, candidates[number].fairness_weight)
    untold = choices(GRID, [Candidate("", weight, "") for weight in GRID["fairness_weight"]], registry.method("ht"))
    assert list(untold) == [1, 3] and untold[3] == f"{DP} 0.02; {EO} 0.02"


class Given(FieldRun):
    """On rows that a test has made, in their order."""

    rows_of_test = ar.datasets.load("synthetic", num_rows=600, seed=0)

    def stream(self):
        return self.rows_of_test

    def in_order_of(self, seed, stream):
        return stream


def small(**settings):
    return Given("synthetic", (0.0, 1.0), (0,), num_trees=1, height=1, told=(DP,), knob_values=(2e-3, 5e-2), **settings)


def test_rows_behind_the_first_tenth_cannot_change_what_is_chosen(monkeypatch):
    before, given = small().run(), Given.rows_of_test
    labels, features = given.labels.copy(), given.features.copy()
    labels[60:], features[60:] = 1 - labels[60:], -features[60:]
    monkeypatch.setattr(Given, "rows_of_test", ar.Stream(features, labels, 1 - given.groups))
    monkeypatch.setattr(Given.rows_of_test, "groups", np.where(np.arange(600) < 60, given.groups, 1 - given.groups))
    after = small().run()
    first = [*Candidate._fields, "chosen_for", *(name for name in before if name.startswith("first_"))]
    pd.testing.assert_frame_equal(before[first], after[first], check_exact=True)
    assert not before["accuracy"].equals(after["accuracy"])
    assert before["first_accuracy"].notna().all() and (before["accuracy"].notna() == (before["chosen_for"] != "")).all()


def test_a_candidate_that_is_not_chosen_never_learns_more_than_the_first_tenth(monkeypatch):
    learned, frequent = [], np.bincount(Given.rows_of_test.labels[:60]).argmax()

    class Spy:
        def __init__(self, depth):
            self.depth, self.rows = depth, 0
            learned.append(self)

        def predict_then_learn(self, x, y, a):
            self.rows += len(y)
            return np.tile(np.eye(2)[frequent if self.depth == 1 else 1 - frequent], (len(y), 1))

    monkeypatch.setattr(registry, "_METHODS", dict(registry.methods()))
    registry.register_method("spy", label="Spy", marker="*", knob="depth", knob_values=(3, 1, 2),
                             learner=lambda seed, weight, depth: Spy(depth))
    found = Given("synthetic", (0.0,), (0,), method="spy", knob_values=(3, 1, 2)).run()
    assert [(each.depth, each.rows) for each in learned] == [(3, 60), (1, 60), (2, 60), (1, 600)]
    assert found["chosen_for"].str.count(";").tolist() == [0, 5, 0] and found["accuracy"].notna().tolist() == [
        False, True, False]


def test_runs_are_those_of_single_models_also_when_a_compiled_one_begins_again():
    run = FieldRun("synthetic", (0.0, 1.0), (0, 1), rows=400, num_trees=1, height=1, told=(DP,),
                   knob_values=(2e-3, 5e-2), all_judged=True)
    found = run.run().set_index(["seed", "fairness_weight", "knob_value"])
    assert len(found) == 8 and found["accuracy"].nunique() > 4
    for seed, weight, rate in found.index:
        rows = run.in_order_of(seed, run.stream())
        model = ar.Aranyani(num_trees=1, height=1, fairness_weight=weight, seed=seed,
                            penalty=ar.Huber(linear_slope=1.0))
        model.compile(optimizer=keras.optimizers.Adam(rate))
        expected = field_measures.measured(model.predict_then_learn(rows.features, rows.labels, rows.groups), rows)
        for name, value in expected.items():
            assert found.loc[(seed, weight, rate), name] == value, name
    assert found["state_bytes"].notna().tolist() == [True] * 4 + [False] * 4


def test_what_a_search_had_on_the_first_tenth_is_what_a_run_over_all_rows_has_there():
    searched = small().run()
    whole = small(all_judged=True).run()
    for name in (each for each in searched if each.startswith("first_")):
        assert searched[name].tolist() == whole[name].tolist(), name


def test_another_learning_rate_needs_no_other_program():
    stream = ar.datasets.load("synthetic", num_rows=64)
    rows = stream.features, stream.labels, stream.groups

    def model():
        return ar.Aranyani(fairness_weight=0.0, predictor=perceptron(stream.num_features, hidden=2, seed=0), seed=0)

    restart, said = Restart(model(), stream.num_features), {}
    for rate in (None, 5e-2, 2e-3):  # the paper's is back after another
        said[rate] = restart.again(model(), 0.0, rate).predict_then_learn(*rows)
    assert (said[None] == said[2e-3]).all() and np.abs(said[None] - said[5e-2]).max() > 0.01
    alone = model()
    alone.compile(optimizer=keras.optimizers.Adam(5e-2))
    assert (alone.predict_then_learn(*rows) == said[5e-2]).all()


def test_a_target_that_follows_another_has_offsets_of_its_own_in_what_was_compiled_before():
    stream = ar.datasets.load("synthetic", num_rows=2000)
    rows = stream.features, stream.labels, stream.groups

    def model(goal):
        return ar.Aranyani(fairness_weight=ar.ParityTarget(goal), constraint="output", seed=0,
                           predictor=perceptron(stream.num_features, hidden=2, seed=0))

    restart = Restart(model(0.1), stream.num_features)
    for goal in (0.02, 0.1, 0.0, 0.02):
        said = restart.again(model(goal), ar.ParityTarget(goal)).predict_then_learn(*rows)
        assert np.abs(restart.model.steering.offsets).max() > 0.01
        assert (said == model(goal).predict_then_learn(*rows)).all(), goal


def test_one_learner_serves_all_thresholds_above_it_and_each_value_of_the_knob_has_its_own():
    stream = ar.datasets.load("synthetic", num_rows=600)
    tree, alone = Shared(hoeffding_tree()), hoeffding_tree()
    expected = [alone.predict_then_learn(stream.features[at : at + 300], stream.labels[at : at + 300],
                                         stream.groups[at : at + 300]) for at in (0, 300)]
    for _ in range(2):
        listener = Listener(tree)
        for at, said in zip((0, 300), expected, strict=True):
            rows = slice(at, at + 300)
            assert (listener.predict_then_learn(stream.features[rows], stream.labels[rows],
                                                stream.groups[rows]) == said).all()
    assert len(tree.said) == 2 and field_measures.state_bytes(listener) > 1000

    def make(seed, rows, grace_period):
        return hoeffding_tree(grace_period=grace_period)

    first = shared(make, 0, stream, grace_period=50)
    assert shared(make, 0, stream, grace_period=200) is not first and shared(make, 0, stream, grace_period=50) is first
    assert first.learner.classifier.grace_period == 50


def test_a_shared_learner_that_has_diverged_is_not_asked_again():
    class Diverges:
        calls = 0

        def predict_then_learn(self, x, y, a):
            self.calls += 1
            raise DivergedError("it has diverged")

    class SaysNothing(Diverges):
        def predict_then_learn(self, x, y, a):
            self.calls += 1
            return np.full((3, 2), np.nan)

    for learner in (Diverges(), SaysNothing()):
        both = Shared(learner)
        for _ in range(2):
            with pytest.raises(DivergedError):
                Listener(both).predict_then_learn(None, None, None)
        assert both.learner.calls == 1


def test_all_tolerances_of_fabboo_hear_the_same_trees_which_learn_once():
    stream = ar.datasets.load("synthetic", num_rows=400)
    rows = stream.features, stream.labels, stream.groups
    for notion, own, tolerance in ((DP, DP, 0.001), (DP, DP, 0.1), (EO, "equal_opportunity", 0.001)):
        alone = Fabboo(own, tolerance=tolerance, num_trees=5, seed=1)
        assert (fabboo(1, 0.0, notion, stream, tolerance).predict_then_learn(*rows)
                == alone.predict_then_learn(*rows)).all()
    assert all(len(each.votes) == 400 for each in shared_trees(1, stream))
    assert fabboo(1, 0.0, DP, stream, 0.1).state_bytes > 1000


def test_every_method_of_the_field_has_a_knob_of_four_values_but_the_constant_and_the_recipes():
    for how in registry.methods().values():
        values = how.values_for("adult")
        if how.name == "constant" or not how.field:
            assert not how.knob or not how.field
        elif how.knob == "recipe":
            assert len(values) == 1
        else:
            assert len(values) == 4, how.name
        if how.knob == LEARNING_RATE and not how.learner:
            assert values == ADAM_RATES


def test_every_learner_can_be_made_for_a_stream_with_each_value_of_its_knob_and_told_each_notion():
    stream = ar.datasets.load("synthetic", num_rows=50)
    for how in registry.methods().values():
        for notion in (how.notions or (DP,)) if how.learner else ():
            for value in how.values_for("synthetic") or (None,):
                made = how.make(stream, 0, registry.TARGETS[0] if how.steered else 0.0, notion, value)
                assert hasattr(made, "predict_then_learn"), (how.name, value)


def test_the_estimate_counts_what_learns_a_tenth_and_what_learns_all():
    assert small().learners == (4, 2.25) and small(all_judged=True).learners == (0, 4)
    steered = Given("synthetic", registry.TARGETS, (0,), method="thresholds_ht", told=registry.NOTIONS,
                    knob_values=(200, 50))
    assert steered.learners == (12, 6)
    assert Given("synthetic", (0.0,), (0,), method="constant").learners == (0, 1)
    done = []
    small(all_judged=True).run(on_chunk=done.append)
    assert sum(done) == pytest.approx(600 * 2)  # rows times λ, as the progress bar counts
