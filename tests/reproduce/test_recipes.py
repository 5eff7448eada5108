"""Recipes: their scores by hand, the choice with a dataset left out, and what the field makes of it."""

import numpy as np
import pandas as pd
import pytest

import aranyani_tf as ar
import field
import recipes
from aranyani_tf.errors import ArgumentError
from harness import RESULTS, recipe_scores, registry
from harness import recipes as known
from harness.field_streams import STREAMS, FieldStream
from harness.parts import part_of, write_part

FIRST, SECOND = (each.name for each in known.recipes(False)[:2])


def run_of(dataset, recipe, accuracy, gap=0.0, seed=0, groups=""):
    return {"group_decides": False, "dataset": dataset, "preprocessing": "one_hot", "groups": groups,
            "drop_group": False, "target": 0.05, "seed": seed, "recipe": recipe, "accuracy": accuracy,
            "demographic_parity": gap}


def by_dataset(found):
    chosen = found[found["chosen"]]
    return dict(zip(chosen["dataset"], chosen["recipe"], strict=True))


def test_a_score_is_the_distance_to_the_best_recipe_of_a_stream_less_what_a_missed_target_costs():
    runs = [run_of("a", FIRST, 0.80, groups="x"), run_of("a", SECOND, 0.81, groups="x"),
            run_of("a", FIRST, 0.90, groups="y"), run_of("a", SECOND, 0.91, 0.062, groups="y"),  # 10 × 0.002 too much
            run_of("b", FIRST, 0.70, 0.5), run_of("b", SECOND, 0.69, 0.5)]  # five points off, no more
    found = recipe_scores.scores(pd.DataFrame(runs)).set_index(["dataset", "recipe"])
    assert found.loc[("a", FIRST), "score"] == pytest.approx((-0.01 + 0.0) / 2)
    assert found.loc[("a", SECOND), "score"] == pytest.approx((0.0 - 0.01) / 2)
    assert found.loc[("b", SECOND), "score"] == pytest.approx(-0.01) and found.loc[("b", FIRST), "score"] == 0
    assert found.loc[("a", SECOND), "kept"] == 0.5
    assert found.loc[(known.ALL, FIRST), "score"] == pytest.approx(-0.0025)


def test_a_dataset_has_no_part_in_the_choice_of_its_own_recipe():
    runs = [run_of("a", FIRST, 0.9), run_of("a", SECOND, 0.8), run_of("b", FIRST, 0.8), run_of("b", SECOND, 0.82),
            run_of("c", FIRST, 0.8), run_of("c", SECOND, 0.82)]
    found = by_dataset(recipe_scores.scores(pd.DataFrame(runs)))
    assert found == {"a": SECOND, "b": FIRST, "c": FIRST, known.ALL: FIRST}
    runs[0]["accuracy"], runs[1]["accuracy"] = 0.1, 0.9
    assert by_dataset(recipe_scores.scores(pd.DataFrame(runs)))["a"] == SECOND


def test_streams_of_one_dataset_are_left_out_together():
    runs = [run_of("acs", FIRST, 0.9, groups=name) for name in ("sex", "race")]
    runs += [run_of("acs", SECOND, 0.8, groups=name) for name in ("sex", "race")]
    runs += [run_of("b", FIRST, 0.8), run_of("b", SECOND, 0.81)]
    assert by_dataset(recipe_scores.scores(pd.DataFrame(runs)))["acs"] == SECOND


def test_the_table_tells_which_recipe_is_shipped_and_what_the_one_chosen_without_a_dataset_has_there():
    shipped = known.SHIPPED[False].name
    runs = [run_of(dataset, recipe, accuracy) for dataset, better in (("a", shipped), ("b", FIRST))
            for recipe in (shipped, FIRST) for accuracy in (0.82 if recipe == better else 0.8,)]
    text = recipe_scores.written(recipe_scores.scores(pd.DataFrame(runs)))
    assert f"| **{shipped}**, as shipped | 0.00 | -2.00 | -1.00 | 100% |" in text
    assert f"| a | {FIRST} | -2.00 |" in text and f"| b | {shipped} | -2.00 |" in text


@pytest.mark.parametrize("group_decides", [False, True])
def test_the_shipped_recipe_is_what_recommended_gives(group_decides):
    stream = ar.datasets.load("synthetic", num_rows=300)
    rows = stream.features, stream.labels, stream.groups
    ours = known.SHIPPED[group_decides].learner(stream, 0.05, notion="demographic_parity", seed=3,
                                                group_decides=group_decides)
    theirs = ar.recommended(stream, 0.05, group_decides=group_decides, seed=3)
    assert np.array_equal(ours.predict_then_learn(*rows), theirs.predict_then_learn(*rows))
    scored = pd.read_csv(RESULTS / "recipes.csv")
    assert known.SHIPPED[group_decides] == recipe_scores.chosen_on_all(scored, group_decides)


def test_a_recipe_is_known_by_its_name():
    for each in known.recipes(False):
        assert known.Recipe.named(each.name) == each
    with pytest.raises(ArgumentError, match="is not the name of a recipe"):
        known.Recipe.named("large")


def test_the_field_s_recommended_has_the_recipe_of_the_other_datasets_and_one_s_own_data_the_shipped_one(
        tmp_path, monkeypatch):
    pd.DataFrame({"group_decides": [False, False, True, False], "dataset": ["adult", "adult", "adult", known.ALL],
                  "recipe": [FIRST, SECOND, FIRST, SECOND], "chosen": [False, True, True, True]}).to_csv(
        tmp_path / "recipes.csv", index=False)
    monkeypatch.setattr(known, "without", lambda dataset, group, own=known.without: own(dataset, group, tmp_path))
    assert known.without("adult", False).name == SECOND and known.without("adult", True).name == FIRST
    assert known.without("loans", False) == known.SHIPPED[False] and known.without(None, True) == known.SHIPPED[True]
    monkeypatch.setattr("methods.recommended.without", known.without)
    streams = (STREAMS[0], FieldStream("Synthetic", "synthetic", "released"))
    runs, _ = field.plan(field.TINY, ["recommended", "recommended_by_group"], streams)
    assert [run.knob_values for run in runs] == [(SECOND,), (FIRST,), *((known.SHIPPED[decides].name,)
                                                                        for decides in (False, True))]
    assert len({run.key for run in runs}) == 4
    made = registry.method("recommended").make(runs[0].stream(), 0, 0.05, "demographic_parity", SECOND)
    recipe = known.Recipe.named(SECOND)
    assert float(made.optimizer.learning_rate.numpy()) == pytest.approx(recipe.learning_rate)


def test_a_small_study_leaves_its_files(tmp_path, monkeypatch, capsys):
    def complete(name, runs, results, **options):
        for run in runs:
            write_part(part_of(run, results), run.run())
        return len(runs)

    monkeypatch.setattr(recipes, "complete", complete)
    streams = tuple(FieldStream(name, name, how) for name, how in (("synthetic", "released"),
                                                                   ("compas", "standardized")))
    found = recipes.make(field.TINY, tmp_path, streams=streams)
    assert set(found["dataset"]) == {"synthetic", "compas", known.ALL} and found["score"].le(0).all()
    assert found.groupby(["group_decides", "dataset"])["chosen"].sum().eq(1).all()
    text = (tmp_path / "recipes_tiny.md").read_text()
    assert text.count("| without | chosen |") == 2 and "nan" not in text
    assert "chosen on all datasets, group decides: " in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "recipes_tiny.csv")["recipe"].map(known.Recipe.named).notna().all()
