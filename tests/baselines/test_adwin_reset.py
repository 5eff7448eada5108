"""AdwinReset: alarms are those of River's detector fed by hand, and the model forgets at each."""

import numpy as np
import pytest
from river.drift import ADWIN

import aranyani_tf as ar
from aranyani_tf.baselines.adwin_reset import AdwinReset
from aranyani_tf.errors import ArgumentError

SMALL = {"num_trees": 2, "height": 2, "constraint": "output", "seed": 0}


def by_hand(watch, decisions, labels, groups):
    """River's detector over what was said."""
    detector, alarms, pair = ADWIN(delta=0.002), [], {}
    for row, (decision, label, group) in enumerate(zip(decisions, labels, groups, strict=True)):
        if watch == "error":
            detector.update(float(decision != label))
        else:
            pair[group] = decision
            if len(pair) < 2:
                continue
            detector.update(0.5 + (pair[1] - pair[0]) / 2)
            pair = {}
        if detector.drift_detected:
            alarms.append(row)
    return alarms


@pytest.mark.parametrize("watch", ["error", "gap"])
def test_alarms_are_river_s_and_the_model_forgets_at_each(watch):
    stream = ar.datasets.load("synthetic", num_rows=2400, drift_at=0.5, bias=4.0, seed=0)
    learner, plain = AdwinReset(ar.Aranyani(**SMALL), watch), ar.Aranyani(**SMALL)
    rows = stream.features, stream.labels, stream.groups
    pieces = [learner.predict_then_learn(*(array[begin : begin + 700] for array in rows))
              for begin in range(0, 2400, 700)]  # how rows are cut makes no difference
    said = np.concatenate(pieces)
    assert learner.alarms == by_hand(watch, said.argmax(axis=1), stream.labels, stream.groups)
    assert len(learner.alarms) >= 1
    begin = 0
    for end in [*(row + 1 for row in learner.alarms), 2400]:
        np.testing.assert_array_equal(said[begin:end], plain.predict_then_learn(*(array[begin:end] for array in rows)))
        plain.forget_past()
        begin = end


def test_rows_without_label_or_group_are_not_told_to_the_detector():
    learner = AdwinReset(ar.Aranyani(**SMALL), "gap")
    assert learner.error(1, -1) is None and learner.difference(1, -1) is None
    assert [learner.difference(*row) for row in ((0, 0), (1, 0), (1, 1), (1, 1), (0, 0))] == [None, None, 0.5, None, 1]


def test_what_cannot_be_watched_is_refused():
    with pytest.raises(ArgumentError, match="num_groups=3"):
        AdwinReset(ar.Aranyani(num_groups=3), "gap")
    with pytest.raises(ArgumentError, match="watch"):
        AdwinReset(ar.Aranyani(), "moon")
