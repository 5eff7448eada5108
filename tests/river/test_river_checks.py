"""River's own checks of an estimator: every one of them is run, and none is left out."""

import pytest
from river import checks

from aranyani_tf.river import AranyaniClassifier

# What River 0.26 asks of a classifier that takes mini-batches and has a seed.
ALWAYS = (
    "check_bounded_memory_growth", "check_classifier_tracks_seen_labels", "check_clone_changes_memory_addresses",
    "check_clone_is_idempotent", "check_clone_is_independent", "check_clone_same_class",
    "check_clone_with_new_params_applies", "check_disappearing_features", "check_doc", "check_emerging_features",
    "check_get_params_matches_signature", "check_init_default_params_are_not_mutable",
    "check_init_has_default_params_for_tests", "check_learn_many_matches_learn_one", "check_learn_one",
    "check_mutable_attributes_exist", "check_mutate_can_be_idempotent", "check_no_state_aliasing_with_input",
    "check_pickling", "check_pickling_supports_roundtrip", "check_predict_many_matches_predict_one",
    "check_predict_one_before_any_learn", "check_predict_one_pure",
    "check_predict_proba_many_matches_predict_proba_one", "check_predict_proba_one",
    "check_radically_disappearing_features", "check_repr", "check_repr_roundtrips_clone",
    "check_seeding_is_idempotent", "check_shuffle_features_no_impact", "check_str", "check_tags")
OF_TWO_LABELS = "check_predict_proba_one_binary"
TWO, SEVEN = (AranyaniClassifier(**params) for params in AranyaniClassifier._unit_test_params())


@pytest.mark.parametrize("name", [*ALWAYS, OF_TWO_LABELS])
def test_a_classifier_of_two_labels_passes(name):
    run(TWO, name)


@pytest.mark.parametrize("name", ALWAYS)
def test_a_classifier_of_seven_labels_passes(name):
    run(SEVEN, name)


def run(model, name):
    """One check, on each of the streams that River has for it."""
    found = [check for check in checks.yield_checks(model) if check.__name__ == name]
    assert found
    for check in found:
        check(model.clone())


def test_no_check_is_left_out():
    assert not TWO._unit_test_skips() and not SEVEN._unit_test_skips()
    assert {check.__name__ for check in checks.yield_checks(TWO)} == {*ALWAYS, OF_TWO_LABELS}
    assert {check.__name__ for check in checks.yield_checks(SEVEN)} == {*ALWAYS}
