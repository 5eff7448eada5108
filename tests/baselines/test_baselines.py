"""Every baseline: one contract for all, gradients against differences, and each method's own claim."""

import keras
import numpy as np
import pandas as pd
import pytest
from river import evaluate, metrics, tree

import aranyani_tf as ar
import differences
from aranyani_tf.baselines.faht import FairHoeffdingTree, FairInformationGain, faht
from aranyani_tf.baselines.fermi import Fermi, linear
from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree, hoeffding_tree
from aranyani_tf.baselines.majority import MajorityLearner, majority
from aranyani_tf.baselines.mlp import perceptron
from aranyani_tf.baselines.pieces import boosting_on_windows, sgd
from aranyani_tf.baselines.reservoir import Reservoir
from aranyani_tf.baselines.river_ceilings import adaptive_random_forest, scaled_logistic_regression
from aranyani_tf.evaluation.learn_stream import learn_stream
from rewind import Rewindable

SMALL = {"num_trees": 2, "height": 2, "seed": 0}
LEARNERS = {
    "aranyani": lambda: ar.Aranyani(**SMALL), "leaf": lambda: ar.Aranyani(constraint="leaf", **SMALL),
    "output": lambda: ar.Aranyani(constraint="output", **SMALL),
    "summed_output": lambda: ar.Aranyani(constraint="summed_output", **SMALL),
    "mlp": lambda: ar.Aranyani(predictor=perceptron(4)), "fermi_forest": lambda: Fermi(fairness_weight=1.0, **SMALL),
    "fermi_linear": lambda: Fermi(predictor=linear(4)), "reservoir": lambda: Reservoir(capacity=20, **SMALL),
    "ht": hoeffding_tree, "aht": adaptive_hoeffding_tree, "faht": faht, "faht_nba": lambda: faht(leaf_prediction="nba"),
    "majority": lambda: MajorityLearner(hoeffding_tree(), 0.5), "arf": lambda: adaptive_random_forest(num_trees=2),
    "logistic": scaled_logistic_regression, "sgd": lambda: sgd(piece=4),
    "boosting": lambda: boosting_on_windows(piece=8, window=30, max_iter=3, min_samples_leaf=5)}


def small_stream(num_rows=66, **options):
    return ar.datasets.load("synthetic", num_rows=num_rows, num_features=4, seed=1, **options)


def makers(name):
    """A function that makes the learner anew; a Keras model is compiled once, and goes back to its beginning."""
    learner = LEARNERS[name]()
    if not isinstance(learner, keras.Model):
        return LEARNERS[name]
    return Rewindable(learner, num_features=4).rewind


@pytest.mark.parametrize("name", LEARNERS)
def test_the_contract_of_all_learners(name):
    """Predict before learn; one row at a time or many; a group or a label that comes late, or never."""
    stream = small_stream(64)
    labels, groups = stream.labels.copy(), stream.groups.copy()
    labels[:10], groups[:30], labels[20] = 0, 1, -1
    rows, make = (stream.features, labels, groups), makers(name)
    whole = make().predict_then_learn(*rows)
    assert whole.shape == (64, 2) and np.isfinite(whole).all()
    np.testing.assert_allclose(whole.sum(axis=1), 1, atol=1e-5)
    learner = make()
    pieces = [learner.predict_then_learn(*(column[start:stop] for column in rows))
              for start, stop in ((0, 1), (1, 2), (2, 40), (40, 64))]
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1e-5)
    other = labels.copy()
    other[50:] = 1 - np.abs(other[50:])
    changed = make().predict_then_learn(stream.features, other, groups)
    np.testing.assert_allclose(changed[:51], whole[:51], atol=1e-6)  # row 50 is predicted before its label is known
    assert np.abs(changed[51:] - whole[51:]).max() > 1e-6


def test_any_learner_gives_records():
    stream = small_stream(400)
    records = learn_stream(hoeffding_tree(), stream, checkpoints=[100])
    said = hoeffding_tree().predict_then_learn(stream.features, stream.labels, stream.groups).argmax(axis=1)
    assert records["step"].tolist() == [100, 400]
    assert records["accuracy"].iloc[-1] == pytest.approx((said == stream.labels).mean())


# --- gradients, step by step, against central differences --------------------------------------------------------

def agree(model, reference, stream, atol=1e-5):
    said = model.predict_then_learn(stream.features, stream.labels, stream.groups)
    np.testing.assert_allclose(said, reference.run(stream), atol=atol)


def released(**settings):
    return {"penalty": ar.Huber(linear_slope=1.0), "dtype": "float64"} | settings


def test_the_mlp_agrees_with_differences_over_100_steps():
    stream, predictor = small_stream(100), perceptron(4, hidden=3, seed=2, dtype="float64")
    reference = differences.OutputLevel(differences.perceptron, predictor.get_weights(), fairness_weight=0.7)
    agree(ar.Aranyani(predictor=predictor, fairness_weight=0.7, **released()), reference, stream)


def test_the_output_level_of_the_forest_agrees_with_differences_over_100_steps():
    stream = small_stream(100)
    model = ar.Aranyani(constraint="output", fairness_weight=0.7, **released(num_trees=2, height=2, seed=3))
    model.build((None, 4))
    agree(model, differences.OutputLevel(differences.forest, model.forest.get_weights(), fairness_weight=0.7), stream)


@pytest.mark.parametrize("kind", ["linear", "forest"])
def test_fermi_agrees_with_differences_over_100_steps(kind):
    stream = small_stream(100)
    if kind == "linear":
        predictor = linear(4, dtype="float64")
        model = Fermi(predictor=predictor, fairness_weight=2.0, dependence_rate=0.05, dtype="float64")
        weights, probabilities = predictor.get_weights(), differences.linear
    else:
        model = Fermi(fairness_weight=2.0, dependence_rate=0.05, num_trees=2, height=2, seed=3, dtype="float64")
        model.build((None, 4))
        weights, probabilities = model.forest.get_weights(), differences.forest
    reference = differences.FermiReference(probabilities, weights, fairness_weight=2.0, rate=0.05)
    agree(model, reference, stream)
    np.testing.assert_allclose(model.statistics.dependence, reference.matrix, atol=1e-5)


def test_the_reservoir_that_keeps_everything_agrees_with_differences_over_100_steps():
    stream = small_stream(100)
    model = Reservoir(capacity=100, fairness_weight=5.0, num_trees=1, height=2, seed=3, dtype="float64")
    model.build((None, 4))
    reference = differences.ReservoirReference(differences.forest, model.forest.get_weights(), fairness_weight=5.0)
    agree(model, reference, stream)


@pytest.mark.parametrize("name", ["leaf", "mlp"])
def test_the_released_slip_has_no_fairness_gradient_and_the_right_one_has(name):
    stream, norms = small_stream(300), {}
    for constraint in ("leaf" if name == "leaf" else "output", "summed_output"):
        own = {"predictor": perceptron(4), "seed": 0} if name == "mlp" else SMALL
        model = ar.Aranyani(**own, constraint=constraint, record_gradients=True, fairness_weight=1.0,
                            penalty=ar.Huber(linear_slope=1.0))
        model.fit(stream, verbose=0)
        norms[constraint] = model.gradient_norms.filter(like="fairness_").iloc[50:].to_numpy()
    assert norms.pop("summed_output").max() < 1e-6
    (right,) = norms.values()
    assert np.median(right.max(axis=1)) > 1e-3


# --- FERMI, Reservoir -------------------------------------------------------------------------------------------

def test_the_penalty_that_fermi_reports_is_its_term_of_the_objective():
    stream = small_stream(60)
    model = Fermi(fairness_weight=3.0, dependence_rate=0.1, **SMALL)
    said = model.predict_then_learn(stream.features, stream.labels, stream.groups).astype("float64")
    w, shares = model.statistics.dependence.numpy(), np.bincount(stream.groups) / 60
    psi = [said[row] @ (2 * w[a] / np.sqrt(shares[a]) - (w**2).sum(axis=0)) - 1 for row, a in enumerate(stream.groups)]
    assert float(model.fairness_penalty.result()) == pytest.approx(3.0 * np.mean(psi), rel=1e-4)


def test_the_best_w_makes_psi_the_exponential_renyi_mutual_information():
    """A frozen model, the same 60 samples at every step: W climbs to the maximum, whose value is known."""
    batch = small_stream(60)
    rows = np.tile(np.arange(60), 2500)
    model = Fermi(predictor=(predictor := linear(4)), samples_per_step=60, dependence_rate=0.1)
    predictor.set_weights([np.random.default_rng(0).normal(size=(4, 2)), np.zeros(2)])
    model.compile(keras.optimizers.SGD(0.0))
    model.fit(batch[rows], batch_size=60 * 500, verbose=0)
    said = predictor.predict(batch.features, verbose=0).astype("float64")
    one_hot = np.eye(2)[batch.groups]
    joint, groups, labels = one_hot.T @ said / 60, one_hot.mean(axis=0), said.mean(axis=0)
    exact = (joint**2 / np.outer(groups, labels)).sum() - 1
    matrix = model.statistics.dependence.numpy().astype("float64")
    psi = np.mean([-np.trace(matrix @ np.diag(y) @ matrix.T) + 2 * matrix[a] @ y / np.sqrt(groups[a]) - 1
                   for y, a in zip(said, batch.groups, strict=True)])
    assert exact > 0.01
    assert psi == pytest.approx(exact, abs=1e-3)


def test_a_small_reservoir_keeps_a_sample_of_the_past():
    stream = small_stream(2000)
    stream.features[:, 0] = np.arange(2000)
    model = Reservoir(capacity=50, fairness_weight=0.0, **SMALL)
    model.fit(stream, verbose=0)
    assert model.statistics.num_stored.numpy().ravel().tolist() == [50, 50]
    kept = model.statistics.stored_features.numpy()[:, :, 0]
    for group in (0, 1):
        assert set(kept[group]) <= set(np.flatnonzero(stream.groups == group)) and len(set(kept[group])) == 50
    assert 700 < kept.mean() < 1300 and kept.min() < 200 and kept.max() > 1800
    with pytest.raises(ValueError, match="capacity must be a whole number"):
        Reservoir(capacity=0)
    with pytest.raises(ValueError, match="node level"):
        Reservoir(capacity=5, constraint="leaf")


@pytest.mark.parametrize("make", [lambda: Fermi(**SMALL), lambda: Reservoir(capacity=30, **SMALL)],
                         ids=["fermi", "reservoir"])
def test_saved_baselines_go_on_with_their_stream(make, tmp_path):
    stream, model = small_stream(120), make()
    model.fit(stream[:60], verbose=0)
    model.save(tmp_path / "model.keras")
    other = keras.saving.load_model(tmp_path / "model.keras")
    rest = stream[60:]
    np.testing.assert_allclose(other.predict_then_learn(rest.features, rest.labels, rest.groups),
                               model.predict_then_learn(rest.features, rest.labels, rest.groups), atol=1e-6)


# --- trees ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("ours", "river"), [
    (hoeffding_tree, tree.HoeffdingTreeClassifier),
    (adaptive_hoeffding_tree, lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0))], ids=["ht", "aht"])
def test_hoeffding_trees_predict_as_in_river_s_own_loop(ours, river):
    stream = ar.datasets.load("adult")[:5000]
    said = ours().predict_then_learn(stream.features, stream.labels, stream.groups).argmax(axis=1)
    dataset = [(dict(enumerate(x)), y) for x, y in zip(stream.features.tolist(), stream.labels.tolist(), strict=True)]

    class Kept(metrics.Accuracy):
        predictions = []  # noqa: RUF012

        def update(self, y_true, y_pred, w=1.0):
            self.predictions.append(y_pred)
            super().update(y_true, y_pred, w)

    evaluate.progressive_val_score(dataset, river(), metric := Kept())
    np.testing.assert_array_equal(said[-len(metric.predictions):], metric.predictions)
    assert len(metric.predictions) >= 4999  # River has no answer to the first row


def discriminating_stream(num_rows=4000):
    """Feature 0 tells the label best, but favours group 0 on one side of it; feature 1 is nearly as good and fair."""
    random = np.random.default_rng(0)
    groups, side = random.integers(0, 2, (2, num_rows))
    labels = np.where(side == 1, (groups == 0).astype(int), (random.random(num_rows) < 0.3) & (groups == 1)).astype(int)
    hint = np.where(random.random(num_rows) < 0.65, labels, 1 - labels)
    return ar.Stream(np.stack([side, hint], axis=1).astype("float32"), labels, groups)


def root_feature(classifier):
    return classifier._root.feature


def test_faht_leaves_the_discriminating_feature_that_ht_takes():
    stream = discriminating_stream()
    trees = {"ht": hoeffding_tree(), "faht": faht()}
    for learner in trees.values():
        learner.predict_then_learn(stream.features, stream.labels, stream.groups)
    assert root_feature(trees["ht"].classifier) == 0
    assert root_feature(trees["faht"].classifier) == 1


def test_faht_s_merit_is_information_gain_times_fairness_gain():
    before = {(1, 0): 30.0, (0, 0): 20.0, (1, 1): 10.0, (0, 1): 40.0}
    after = [{(1, 0): 25.0, (0, 0): 5.0, (1, 1): 2.0, (0, 1): 8.0},
             {(1, 0): 5.0, (0, 0): 15.0, (1, 1): 8.0, (0, 1): 32.0}]

    def entropy(*counts):
        shares = np.array(counts) / sum(counts)
        return -(shares * np.log2(shares)).sum()

    gain = entropy(40, 60) - 0.4 * entropy(27, 13) - 0.6 * entropy(13, 47)
    fairness = abs(0.6 - 0.2) - 0.4 * abs(25 / 30 - 0.2) - 0.6 * abs(0.25 - 0.2)
    assert FairInformationGain(0.01).merit_of_split(before, after) == pytest.approx(gain * fairness)
    same = [{key: value / 2 for key, value in before.items()}] * 2  # fairness gain 0: plain information gain, 0 here
    assert FairInformationGain(0.01).merit_of_split(before, same) == pytest.approx(0)
    with pytest.raises(ValueError, match="criterion must be one of 'published', 'released'"):
        FairHoeffdingTree("mine")


def test_majority_of_the_past_alone_begins_without_knowledge():
    stream = small_stream(500)
    learner = MajorityLearner(hoeffding_tree(), probability=0.0)
    said = learner.predict_then_learn(stream.features, stream.labels, stream.groups).argmax(axis=1)
    counts = np.cumsum(np.eye(2)[stream.labels], axis=0) - np.eye(2)[stream.labels]
    np.testing.assert_array_equal(said, counts.argmax(axis=1))
    records = learn_stream(hoeffding_tree(), stream).assign(fairness_weight=0.0, seed=0)
    line = majority(records[records["step"] == 500], stream).set_index("probability")
    label = np.bincount(stream.labels).argmax()
    drawn = pd.concat([learn_stream(MajorityLearner(hoeffding_tree(), 0.5, label=label, seed=seed), stream).iloc[-1:]
                       for seed in range(12)])
    assert drawn["accuracy"].mean() == pytest.approx(line.loc[0.5, "accuracy"], abs=0.02)
    with pytest.raises(ValueError, match="between 0 and 1"):
        MajorityLearner(hoeffding_tree(), 1.5)
