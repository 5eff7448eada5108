"""The streams of the experiments: groupings, thinning, and the number of groups."""

from dataclasses import asdict, replace

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError
from harness import experiment_streams as streams
from harness import experiments, group_study, registry, scales


def test_thinning_leaves_the_wanted_share_of_the_smallest_group_and_all_other_rows_in_their_order():
    whole = ar.datasets.load("synthetic", num_rows=4000)
    thin = streams.thinned(whole, 0.02)
    assert (thin.groups == 1).mean() == pytest.approx(0.02, abs=5e-4)
    np.testing.assert_array_equal(thin.features[thin.groups == 0], whole.features[whole.groups == 0])
    rows = [row.tobytes() for row in whole.features]
    kept = {row.tobytes() for row in thin.features}
    assert [row for row in rows if row in kept] == [row.tobytes() for row in thin.features]
    np.testing.assert_array_equal(thin.features, streams.thinned(whole, 0.02).features)  # the same rows again


@pytest.mark.parametrize("share", [0.0, 0.9, -1, float("nan")])
def test_a_share_that_the_smallest_group_cannot_have_is_refused(share):
    with pytest.raises(ArgumentError, match=r"share must be above 0 and at most 0\.3"):
        streams.thinned(ar.datasets.load("synthetic", num_rows=1000), share)


def test_thinning_comes_with_the_experiment_also_under_drift():
    for order in ("file", "drift"):
        stream = experiments.Experiment("synthetic", (0.0,), (0,), rows=2000, share=0.05, order=order).stream()
        assert (stream.groups == 1).mean() == pytest.approx(0.05, abs=1e-3)


def test_another_grouping_is_another_stream_and_is_refused_where_there_is_one_only():
    religion = experiments.Experiment("wiki_toxicity", (0.0,), (0,), groups="religion")
    assert religion.stream().group_names == ("Christian", "Muslim") and len(religion.stream()) == 3532
    assert religion.key != experiments.Experiment("wiki_toxicity", (0.0,), (0,)).key
    with pytest.raises(ArgumentError, match="adult has only one grouping"):
        experiments.Experiment("adult", (0.0,), (0,), groups="race").stream()


def test_the_model_has_as_many_groups_as_the_stream(monkeypatch):
    three = ar.datasets.load("synthetic", num_rows=600, num_groups=3)
    monkeypatch.setattr(experiments.Experiment, "stream", lambda self: three)
    records = experiments.Experiment("synthetic", (0.1,), (0,), num_trees=1, height=1).run()
    assert {"forget", "chance", "groups", "share"} <= set(records.columns)
    assert records["demographic_parity"].notna().all()


@pytest.mark.as_users  # so that every method's program is compiled by XLA, where it is for users
@pytest.mark.parametrize("method", [name for name in registry.methods() if not name.startswith("reservoir")])
def test_every_method_runs_with_a_forest_of_another_size_if_it_has_one(method):
    experiment = scales.TINY.experiment("synthetic", (0.0,), method=method, rule=registry.method(method).rule)
    records = replace(experiment, rows=200).run()
    assert records["accuracy"].between(0, 1).all()


def test_streams_that_cannot_be_fetched_are_told(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(group_study, "available", lambda dataset: asked.append(dataset) or dataset != "acs_employment")
    assert group_study.missing_streams() == ["acs_disability", "acs_race"] and len(asked) == len(set(asked))
    assert group_study.missing_streams(scales.TINY) == ["acs_race"]
    capsys.readouterr()
    assert "acs_employment" not in {each.dataset for each in group_study.small_groups()}
    assert capsys.readouterr().err.endswith("could not be fetched: acs_disability, acs_race\n")
    monkeypatch.setattr(group_study, "available", lambda dataset: True)
    assert group_study.small_groups() and not capsys.readouterr().err and not group_study.missing_streams()


def test_an_experiment_s_key_covers_the_study_s_own_module_and_nothing_twice():
    study = group_study.small_groups(scales.TINY)[0]
    plain = experiments.Experiment(**asdict(study))
    assert study.key != plain.key and type(study).key is experiments.Experiment.key
