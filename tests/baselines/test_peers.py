"""Peers of the comparison: corrections of chunks against brute force, and the fair adaptive trees."""

import itertools

import numpy as np
import pytest
from river import tree
from sklearn.naive_bayes import GaussianNB

import aranyani_tf as ar
from aranyani_tf.baselines.chunk_corrections import (
    ChunkCorrection,
    bayes_scores,
    independent_weights,
    massaged,
    rate_gap,
)
from aranyani_tf.baselines.faht import by_label
from aranyani_tf.baselines.feat import FairEnhancingGain, FlexibleGain, LabelAndGroup, UnfairError, feat, flexible_faht
from aranyani_tf.baselines.hoeffding import adaptive_hoeffding_tree, hoeffding_tree
from aranyani_tf.baselines.majority import MajorityLearner

LEARNERS = {
    "massaging": lambda: ChunkCorrection(hoeffding_tree, "massaging", chunk_rows=10),
    "massaging_by_model": lambda: ChunkCorrection(hoeffding_tree, "massaging", chunk_rows=10, ranker="model"),
    "reweighting": lambda: ChunkCorrection(hoeffding_tree, "reweighting", chunk_rows=10),
    "feat": feat, "flexible_faht": flexible_faht}


def small_stream(num_rows):
    return ar.datasets.load("synthetic", num_rows=num_rows, num_features=4, seed=1)


def random_chunk(seed, num_rows=60, num_groups=2):
    """Random labels and groups, some of them missing, and scores."""
    random = np.random.default_rng(seed)
    groups = random.integers(-1, num_groups, num_rows)
    labels = (random.random(num_rows) < 0.2 + 0.4 * (groups == 1)).astype(int)
    return np.where(random.random(num_rows) < 0.1, -1, labels), groups, random.random(num_rows)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_contract_of_all_learners(name):
    """Predict before learn; rows in one piece or in several; labels and groups that are missing."""
    stream = small_stream(64)
    labels, groups = stream.labels.copy(), stream.groups.copy()
    groups[:5], labels[20], groups[33] = 1, -1, -1
    rows = stream.features, labels, groups
    whole = LEARNERS[name]().predict_then_learn(*rows)
    assert whole.shape == (64, 2) and np.isfinite(whole).all()
    np.testing.assert_allclose(whole.sum(axis=1), 1, atol=1e-9)
    learner = LEARNERS[name]()
    pieces = [learner.predict_then_learn(*(column[start:stop] for column in rows))
              for start, stop in ((0, 1), (1, 2), (2, 40), (40, 64))]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    other = labels.copy()
    other[50:] = 1 - np.abs(other[50:])
    changed = LEARNERS[name]().predict_then_learn(stream.features, other, groups)
    np.testing.assert_array_equal(changed[:51], whole[:51])
    assert np.abs(changed[51:] - whole[51:]).max() > 1e-6


# --- massaging --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(20))
def test_massaging_leaves_a_gap_of_less_than_one_swap_and_as_many_positive_labels(seed):
    labels, groups, scores = random_chunk(seed)
    after, known = massaged(labels, groups, scores), (labels >= 0) & (groups >= 0)
    sizes = [(known & (groups == group)).sum() for group in (0, 1)]
    one_swap = 1 / sizes[0] + 1 / sizes[1]
    gap = [rate_gap(column[known] == 1, groups[known]) for column in (labels, after)]
    assert abs(gap[1]) < one_swap and gap[0] * gap[1] <= 0  # just across 0, as the number of swaps is rounded up
    assert after[known].sum() == labels[known].sum()
    np.testing.assert_array_equal(after[~known], labels[~known])


@pytest.mark.parametrize("seed", range(5))
def test_of_all_sets_of_swaps_massaging_takes_the_most_plausible(seed):
    """Brute force over every way to promote and demote that number of rows of a small chunk."""
    labels, groups, scores = random_chunk(seed, num_rows=14)
    after = massaged(labels, groups, scores)
    swapped = np.flatnonzero(after != labels)
    promoted, demoted = swapped[after[swapped] == 1], swapped[after[swapped] == 0]
    assert len(promoted) == len(demoted)
    if not len(promoted):
        return
    deprived, favoured = groups[promoted[0]], groups[demoted[0]]
    assert deprived != favoured
    ways = [itertools.combinations(np.flatnonzero((groups == group) & (labels == label)), len(promoted))
            for group, label in ((deprived, 0), (favoured, 1))]
    assert scores[promoted].sum() == pytest.approx(max(scores[list(way)].sum() for way in ways[0]))
    assert scores[demoted].sum() == pytest.approx(min(scores[list(way)].sum() for way in ways[1]))


def test_the_ranker_is_scikit_learn_s_naive_bayes():
    stream = small_stream(300)
    probabilities = GaussianNB().fit(stream.features.astype("float64"), stream.labels).predict_log_proba(
        stream.features.astype("float64"))
    np.testing.assert_allclose(bayes_scores(stream.features, stream.labels), probabilities[:, 1] - probabilities[:, 0],
                               rtol=1e-6, atol=1e-9)
    assert (bayes_scores(stream.features, np.zeros(300, int)) == 0).all()


# --- reweighting ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("num_groups", [2, 4])
def test_weights_make_label_and_group_independent_and_keep_their_shares(num_groups):
    labels, groups, _ = random_chunk(3, num_rows=200, num_groups=num_groups)
    weights, known = independent_weights(labels, groups), (labels >= 0) & (groups >= 0)
    assert (weights[~known] == 1).all()
    labels, groups, weights = labels[known], groups[known], weights[known]
    table = np.array([[weights[(labels == y) & (groups == a)].sum() for a in range(num_groups)] for y in (0, 1)])
    np.testing.assert_allclose(table / table.sum(), np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum() ** 2)
    np.testing.assert_allclose(table.sum(axis=1), np.bincount(labels))
    np.testing.assert_allclose(table.sum(axis=0), np.bincount(groups))


# --- chunks -----------------------------------------------------------------------------------------------------

def biased_stream(num_rows=1500, seed=0):
    """Two features tell the label, and one the group; group 1 is favoured."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, 2, num_rows)
    labels = (random.random(num_rows) < np.where(groups == 1, 0.7, 0.3)).astype(int)
    hint = labels + random.normal(0, 0.7, num_rows)
    return ar.Stream(np.stack([hint, groups + random.normal(0, 0.2, num_rows)], 1).astype("float32"), labels, groups)


def answers(learner, stream):
    return learner.predict_then_learn(stream.features, stream.labels, stream.groups).argmax(axis=1)


@pytest.mark.parametrize("correction", ["massaging", "reweighting"])
def test_a_chunk_is_answered_by_the_learner_that_learned_the_corrected_chunks_before(correction):
    stream = biased_stream()
    said = answers(ChunkCorrection(hoeffding_tree, correction, chunk_rows=300, ranker="model"), stream)
    by_hand, expected = hoeffding_tree(), hoeffding_tree().predict_then_learn(
        stream.features[:300], stream.labels[:300], stream.groups[:300])
    for start in range(0, 1500, 300):
        x, y, a = (column[start:start + 300] for column in (stream.features, stream.labels, stream.groups))
        if start:
            expected = by_hand.predict(x)
        np.testing.assert_array_equal(said[start:start + 300], expected.argmax(axis=1))
        if correction == "massaging":
            by_hand.predict_then_learn(x, massaged(y, a, expected[:, 1]), a)
        else:
            by_hand.predict_then_learn(x, y, a, sample_weight=independent_weights(y, a))


@pytest.mark.parametrize("correction", ["massaging", "reweighting"])
def test_corrections_halve_the_gap_of_a_biased_stream(correction):
    stream = biased_stream()
    plain, fair = (answers(learner, stream)[500:] for learner in (
        hoeffding_tree(), ChunkCorrection(hoeffding_tree, correction, chunk_rows=100)))
    groups = stream.groups[500:]
    assert abs(rate_gap(fair, groups)) < 0.5 * abs(rate_gap(plain, groups))


def test_below_the_threshold_nothing_is_corrected_and_rows_are_learned_one_by_one():
    stream = biased_stream(600)
    said = answers(ChunkCorrection(hoeffding_tree, "massaging", chunk_rows=100, threshold=1.0), stream)
    np.testing.assert_array_equal(said, answers(hoeffding_tree(), stream))


def test_weights_of_rows_reach_river():
    stream = small_stream(80)
    ours, river = hoeffding_tree(), tree.HoeffdingTreeClassifier()
    ours.predict_then_learn(stream.features, stream.labels, stream.groups, sample_weight=np.arange(80) / 40)
    for row, (x, y) in enumerate(zip(stream.features.tolist(), stream.labels.tolist(), strict=True)):
        if row:  # a weight of 0 teaches nothing
            river.learn_one(dict(enumerate(x)), y, w=row / 40)
    assert ours.predict(stream.features[:1])[0, 1] == river.predict_proba_one(
        dict(enumerate(stream.features[0].tolist())))[1]


def test_what_cannot_be_corrected_is_refused_by_name():
    with pytest.raises(ValueError, match="massaging swaps labels between two groups, num_groups is 9"):
        ChunkCorrection(hoeffding_tree, "massaging", num_groups=9)
    with pytest.raises(ValueError, match="needs two labels; the learner has num_labels=3"):
        ChunkCorrection(lambda: hoeffding_tree(3), "reweighting")
    with pytest.raises(ValueError, match="takes sample_weight; MajorityLearner does not"):
        ChunkCorrection(lambda: MajorityLearner(hoeffding_tree(), 0.5), "reweighting")
    with pytest.raises(ValueError, match="correction must be one of"):
        ChunkCorrection(hoeffding_tree, "smoothing")


# --- FEAT and 2FAHT ---------------------------------------------------------------------------------------------

BEFORE = {(1, 0): 30.0, (0, 0): 20.0, (1, 1): 10.0, (0, 1): 40.0}
FAIR = [{(1, 0): 28.0, (0, 0): 12.0, (1, 1): 9.0, (0, 1): 5.0}, {(1, 0): 2.0, (0, 0): 8.0, (1, 1): 1.0, (0, 1): 35.0}]
UNFAIR = [{(1, 0): 25.0, (0, 0): 5.0, (1, 1): 2.0, (0, 1): 8.0}, {(1, 0): 5.0, (0, 0): 15.0, (1, 1): 8.0, (0, 1): 32.0}]


def entropy(*counts):
    shares = np.array(counts) / sum(counts)
    return -(shares * np.log2(shares)).sum()


@pytest.mark.parametrize("parts", [FAIR, UNFAIR])
def test_the_merits_of_feat_and_2faht_are_those_of_their_formulas(parts):
    gain = entropy(40, 60)
    for part in parts:
        labels = by_label(part)
        gain -= sum(part.values()) / 100 * entropy(labels[0], labels[1])
    rates = [[part[1, group] / (part[0, group] + part[1, group]) for group in (0, 1)] for part in parts]
    fairness = abs(0.6 - 0.2) - sum(abs(first - second) for first, second in rates)
    assert (fairness > 0) == (parts is FAIR)
    enhanced = gain * fairness if fairness > 0 else gain
    assert FairEnhancingGain(0.01).merit_of_split(BEFORE, parts) == pytest.approx(enhanced)
    assert FlexibleGain(0.01, 3.0).merit_of_split(BEFORE, parts) == pytest.approx(gain * np.exp(3 * fairness))


def test_with_plain_information_gain_one_group_and_no_alternates_2faht_says_what_river_s_adaptive_tree_says():
    stream = ar.datasets.load("adult")[:1000]
    alone = np.zeros(1000, int)
    ours = flexible_faht(0.0, period=10**6).predict_then_learn(stream.features, stream.labels, alone)
    river = adaptive_hoeffding_tree().predict_then_learn(stream.features, stream.labels, alone)
    np.testing.assert_allclose(ours[20:], river[20:], atol=1e-12)  # River credits a leaf's first row to the majority


def test_a_class_equals_its_label_and_its_pair_and_nothing_else():
    pair = LabelAndGroup((1, 0))
    assert pair == 1 and pair == (1, 0) and pair != 0 and pair != (1, 1) and {pair: 2}[1, 0] == 2


def test_unfair_error_is_the_mean_error_times_the_exponential_of_the_gap_of_decisions():
    random, judge = np.random.default_rng(0), UnfairError()
    labels, groups, decided = random.integers(0, 2, (3, 50)).tolist()
    assert judge.get() == 0
    for label, group, decision in zip(labels, groups, decided, strict=True):
        judge.row = (label, group)
        judge.update(int(label != decision))
    error = np.mean(np.array(labels) != decided)
    expected = error * np.exp(abs(rate_gap(np.array(decided), np.array(groups))))
    assert judge.get() == pytest.approx(min(1.0, expected)) and judge.clone().n == 0


def test_alternates_answer_soon_after_the_labels_are_turned_around():
    random = np.random.default_rng(0)
    features, groups = random.random((2600, 2)).astype("float32"), random.integers(0, 2, 2600)
    labels = (features[:, 0] > 0.5).astype(int)
    labels[1800:] = 1 - labels[1800:]
    stream = ar.Stream(features, labels, groups)
    for learner in (feat(tau=0.3), flexible_faht(tau=0.3)):  # τ: both split soon, also where nothing is unfair
        said = answers(learner, stream)
        assert learner.classifier.n_alternate_trees > 0
        assert (said[1500:1800] == labels[1500:1800]).mean() > 0.95
        assert (said[1800:1900] == labels[1800:1900]).mean() < 0.5
        assert (said[2100:] == labels[2100:]).mean() > 0.95
