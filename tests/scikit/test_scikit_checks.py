"""scikit-learn's own checks of an estimator: all are run, and those that cannot pass say why."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from aranyani_tf.errors import ArgumentError
from aranyani_tf.scikit import FairForestClassifier

WEIGHTS = "every row counts once: a weight other than 1 is refused"
CANNOT_PASS = {
    "check_all_zero_sample_weights_error": WEIGHTS + ", 0 among them, and the error is about that",
    "check_classifiers_one_label_sample_weights": WEIGHTS + ", before it is seen that one class is left without them",
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weights_list": WEIGHTS,
    "check_sample_weights_not_overwritten": WEIGHTS}


@parametrize_with_checks([FairForestClassifier()], expected_failed_checks=lambda estimator: CANNOT_PASS)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def found():
    return {each["check_name"]: each
            for each in check_estimator(FairForestClassifier(), on_fail=None, on_skip=None)}


def test_what_is_said_to_fail_does_and_nothing_else(found):
    assert {name for name, each in found.items() if each["status"] == "failed"} == set(CANNOT_PASS)
    # Arrays of other libraries than NumPy: SciPy would have to be told before it is imported.
    assert {name for name, each in found.items() if each["status"] == "skipped"} <= {"check_array_api_input"}
    assert len([name for name, each in found.items() if each["status"] == "passed"]) >= 45


@pytest.mark.parametrize("name", CANNOT_PASS)
def test_the_reason_is_the_weight(name, found):
    told, seen = found[name]["exception"], []
    while told is not None:
        seen.append(told)
        told = told.__cause__ or told.__context__
    assert any(isinstance(each, ArgumentError) and "sample_weight must be 1" in str(each) for each in seen), seen


def test_weights_of_1_are_no_weights():
    x, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    one, other = (FairForestClassifier(random_state=0).fit(x, y, sample_weight=weights)
                  for weights in (None, np.ones(30)))
    np.testing.assert_array_equal(one.predict_proba(x), other.predict_proba(x))
