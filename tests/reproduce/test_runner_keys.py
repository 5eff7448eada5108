"""An experiment's key: no old result passes for a new one, and none is thrown away for nothing."""

import dataclasses
import functools
import shutil
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.errors import ArgumentError
from harness import experiments, fingerprints, grids, registry, scales

ROOT = Path(__file__).parents[2]
ADULT = {"dataset": "adult", "fairness_weights": (0.0,), "seeds": (0,)}
LOOKED_FOR = functools.cache(fingerprints.file_of)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The project's code in a folder of its own, to be changed and put back; and the hashes that it has."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("aranyani_tf", "reproduce"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder, hashes(folder)


@pytest.fixture
def copied(tmp_path, original):
    """A copy for one test, which may add files to it."""
    shutil.copytree(original[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def hashes(root):
    """Every method's hash on Adult, with files looked for once in a folder: they change there, but do not move."""
    fingerprints.of_code.cache_clear()
    with mock.patch.object(fingerprints, "file_of", LOOKED_FOR):
        return {method: fingerprints.of_code(method, "adult", root=root) for method in registry.methods()}


def changed(root, before, file, old=None, new=None):
    """Which methods' hashes differ once a file has another line, or `new` in the place of `old`; it is put back."""
    path = root / file
    text = path.read_text(encoding="utf-8")
    assert old is None or old in text
    path.write_text(text + "\nLATER = 1\n" if old is None else text.replace(old, new), encoding="utf-8")
    after = hashes(root)
    path.write_text(text, encoding="utf-8")
    return {method for method, now in after.items() if now != before[method]}


EVERY = set(registry.methods())
FAHT, MLP = {"faht", "faht_majority_leaves", "faht_released"}, {"mlp", "mlp_released"}
CEILINGS = {"arf", "logistic", "sgd", "boosting_on_windows"}
STEERED, THRESHOLDS = {"target_mlp", "target_logistic"}, {"thresholds_mlp", "thresholds_logistic", "thresholds_ht"}


@pytest.mark.parametrize(("file", "concerned"), [
    ("aranyani_tf/learning/step.py", EVERY), ("aranyani_tf/datasets/adult.py", EVERY),
    ("aranyani_tf/datasets/shipped.py", EVERY),
    ("reproduce/harness/experiments.py", EVERY), ("reproduce/harness/experiment_streams.py", EVERY),
    ("reproduce/harness/race.py", EVERY), ("reproduce/harness/settings.py", EVERY),
    ("reproduce/harness/registry.py", EVERY),
    ("aranyani_tf/baselines/faht.py", FAHT | {"feat", "flexible_faht"}),
    ("aranyani_tf/baselines/mlp.py", MLP | STEERED | THRESHOLDS),
    ("aranyani_tf/baselines/fermi.py", {"fermi_forest", "fermi_linear"} | STEERED),
    ("aranyani_tf/baselines/reservoir.py", {"reservoir", "reservoir_500"}),
    ("reproduce/methods/faht.py", FAHT), ("reproduce/methods/mlp.py", MLP), ("reproduce/methods/steered.py", STEERED),
    ("reproduce/methods/thresholds.py", THRESHOLDS), ("reproduce/harness/shared_learner.py", {*THRESHOLDS, "fabboo"}),
    ("reproduce/methods/hoeffding.py", {"ht", "aht"}),
    ("reproduce/methods/ceilings.py", CEILINGS), ("aranyani_tf/baselines/pieces.py", CEILINGS),
    ("reproduce/methods/forests.py", {"aranyani", "leaf", "output", "leaf_released"}),
    ("aranyani_tf/datasets/compas.py", set()), ("aranyani_tf/datasets/__init__.py", set()),
    ("reproduce/harness/tracking.py", set()), ("reproduce/harness/plots.py", set()),
    ("reproduce/harness/grids.py", set()), ("reproduce/harness/weights.py", set()),
    ("reproduce/extensions/__init__.py", set()), ("reproduce/methods/__init__.py", set())])
def test_a_changed_module_concerns_those_methods_that_use_it(original, file, concerned):
    assert changed(*original, file) == concerned


@pytest.mark.parametrize(("old", "new", "concerned"), [
    ('faht(leaf_prediction="nba",', "faht(", FAHT), ('label="FAHT"', 'label="Fair HT"', set()),
    ('marker=">", color="#E69F00"', 'marker="*"', set()), ("nanoseconds=4_300", "nanoseconds=1", set()),
    ('"""FAHT', '# A comment.\n"""FAHT', set())])
def test_how_a_method_learns_concerns_its_family_and_how_it_is_drawn_nobody(original, old, new, concerned):
    assert changed(*original, "reproduce/methods/faht.py", old, new) == concerned


def test_the_weights_that_a_method_is_registered_with_are_settings_and_so_no_code(original):
    assert changed(*original, "reproduce/methods/fermi.py", "0.3, 1.0, 3.0, 10.0, 30.0", "0.3, 1.0") == set()


def test_an_extension_with_all_it_imports_concerns_its_own_methods_rules_and_datasets(copied, monkeypatch):
    folder = copied / "reproduce" / "extensions"
    (folder / "own.py").write_text("from extensions.trees import grow\nfrom .roots import dig\nimport shared\n")
    (folder / "trees.py").write_text("def grow(): ...\n")
    (folder / "roots.py").write_text("from . import soil\n")
    (folder / "soil.py").write_text("")
    (copied / "reproduce" / "shared.py").write_text("")
    own = dataclasses.replace(registry.method("ht"), name="own", module="extensions.own")
    monkeypatch.setitem(registry.methods(), "own", own)
    before = hashes(copied)
    for file in ("extensions/own", "extensions/trees", "extensions/roots", "extensions/soil", "shared"):
        assert changed(copied, before, f"reproduce/{file}.py") == {"own"}, file
    monkeypatch.setitem(registry.rules(), "steep", registry.Rule({}, "extensions.soil"))
    code = [fingerprints.of_code("ht", "adult", rule, root=copied) for rule in ("paper", "released", "steep")]
    assert code[0] == code[1] != code[2]


def test_the_module_and_the_rows_of_a_dataset_of_one_s_own_are_covered(copied, monkeypatch):
    (copied / "reproduce" / "extensions" / "own.py").write_text("def load(): ...\n")
    stream = ar.datasets.load("synthetic", num_rows=50)

    def loader():
        return stream

    loader.__module__ = "extensions.own"
    monkeypatch.setitem(ar.datasets.LOADERS, "own", functools.partial(loader))
    before = fingerprints.of_code("ht", "own", root=copied)
    (copied / "reproduce" / "extensions" / "own.py").write_text("def load(): return 1\n")
    fingerprints.of_code.cache_clear()
    assert fingerprints.of_code("ht", "own", root=copied) != before
    assert fingerprints.of_data("own") == fingerprints.of_stream(stream) and fingerprints.of_data("adult") == ""


def test_what_is_registered_without_a_file_has_no_key(monkeypatch):
    monkeypatch.setitem(registry.methods(), "own", dataclasses.replace(registry.method("ht"), module="a_cell"))
    with pytest.raises(ArgumentError, match=r"a_cell has no file.*register .* in a file of reproduce/extensions/"):
        fingerprints.of_code("own", "adult")


def test_the_module_of_an_experiment_s_own_class_is_covered(copied):
    (copied / "reproduce" / "study.py").write_text("from harness.experiments import Experiment\n")
    before = fingerprints.of_code("aranyani", "adult", module="study", root=copied)
    (copied / "reproduce" / "study.py").write_text("from harness.experiments import Experiment  # and more\n")
    fingerprints.of_code.cache_clear()
    assert fingerprints.of_code("aranyani", "adult", module="study", root=copied) != before


def test_another_setting_is_another_experiment_and_an_unknown_one_is_refused():
    assert experiments.Experiment(**ADULT).key == experiments.Experiment(**ADULT).key
    assert experiments.Experiment(**ADULT).key != experiments.Experiment(**ADULT, height=5).key
    for wrong in ({"rule": "mine"}, {"dataset": "iris"}, {"method": "magic"}, {"order": "backwards"}):
        with pytest.raises(ValueError, match="must be one of"):
            experiments.Experiment(**(ADULT | wrong))


def test_another_group_or_one_other_feature_of_the_user_s_data_is_another_experiment(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    arrays = {"features": random.normal(size=(500, 6)).astype("float16"), "labels": random.integers(0, 2, 500),
              "groups": random.integers(0, 2, 500)}
    keys = []
    for number, (name, row) in enumerate([(None, 0), ("groups", 499), ("labels", 3), ("features", 50), (None, 0)]):
        now = {each: array.copy() for each, array in arrays.items()}
        if name:
            now[name][row] = 1 - now[name][row]
        np.savez(tmp_path / f"{number}.npz", **now)
        monkeypatch.setenv("CELEBA", str(tmp_path / f"{number}.npz"))
        keys.append(experiments.Experiment("celeba", (0.0,), (0,)).key)
    assert len(set(keys[:4])) == 4 and keys[4] == keys[0]  # by what is in it, not by its name


def test_another_version_of_a_library_is_another_experiment(monkeypatch):
    before = fingerprints.of_code("aranyani", "adult", root=ROOT / ".")
    monkeypatch.setattr(fingerprints, "version", lambda name: "99")
    fingerprints.of_code.cache_clear()
    try:
        assert fingerprints.of_code("aranyani", "adult", root=ROOT / ".") != before
    finally:
        fingerprints.of_code.cache_clear()


@pytest.mark.parametrize(("method", "setting"), [
    ("ht", {"fairness_weights": (0.0, 5.0)}), ("ht", {"held_out": 0.1}), ("aht", {"decay": 0.01}),
    ("aht", {"notion": "equalized_odds"}), ("faht", {"record_gradients": True}), ("faht", {"samples_per_step": 10}),
    ("ht", {"update_when": "predicted_positive"}), ("ht", {"forget": "time"}), ("ht", {"chance": 2.0}),
    ("reservoir", {"held_out": 0.1}), ("reservoir_500", {"record_gradients": True}),
    ("fermi_forest", {"notion": "equalized_odds"}), ("fermi_forest", {"rule": "l2"}), ("ht", {"rule": "l2"}),
    ("ht", {"num_trees": 10}), ("faht", {"height": 9}), ("mlp", {"num_trees": 10}), ("fermi_forest", {"chance": 2.0}),
    ("fermi_linear", {"num_trees": 10}), ("fermi_linear", {"height": 9})])
def test_a_setting_without_effect_on_a_method_is_refused_by_name(method, setting):
    ((name, _),) = setting.items()
    with pytest.raises(ArgumentError, match=rf"{name}=.* has no effect on the method '{method}'"):
        experiments.Experiment(**(ADULT | {"method": method, "rule": "none"} | setting))


def test_settings_that_have_an_effect_are_taken_and_a_scale_s_forest_where_there_is_one():
    for method, setting in (("mlp", {"height": 5}), ("mlp", {"rule": "l2"}), ("fermi_forest", {"num_trees": 5}),
                            ("reservoir", {"height": 5}), ("ht", {"rule": "none"}), ("leaf", {"rule": "paper"})):
        experiments.Experiment(**(ADULT | {"method": method} | setting))
    forests = {method: scales.TINY.experiment("adult", (0.0,), method=method) for method in registry.methods()}
    assert {name: (each.num_trees, each.height) for name, each in forests.items() if name in (
        "aranyani", "mlp", "fermi_linear", "ht")} == {
            "aranyani": (1, 2), "mlp": (3, 2), "fermi_linear": (3, 4), "ht": (3, 4)}


@pytest.mark.parametrize("scale", [scales.FULL, scales.QUICK, scales.TINY], ids=lambda scale: scale.name or "full")
def test_every_grid_of_the_figures_is_taken(scale):
    for figure in (grids.figure2, grids.figure2_beyond, grids.figure3, grids.figure4, grids.figure11):
        assert len(figure(scale)) > 1


def test_drift_is_refused_where_there_is_none():
    with pytest.raises(ArgumentError, match=r"order='drift' is for the dataset 'synthetic'; got 'adult'"):
        experiments.Experiment(**ADULT, order="drift")
