"""A monitor's JSON with a right check sum and wrong contents is refused as damaged."""

import json
from fractions import Fraction

import pytest

import aranyani_tf as ar
from aranyani_tf.evaluation.monitor import MONITOR


@pytest.mark.parametrize("changed", [
    {"settings": 3}, {"settings": {"num_groups": 1}}, {"all": [1, 2]}, {"recent": "a"}, {"before": None}, {"news": -1},
    {"alarmed": "no"}, {"next_look": "1"}], ids=str)
def test_contents_that_cannot_be_are_refused(changed):
    monitor = ar.FairnessMonitor(limit=0.1)
    monitor.add([1, 0, 1], [0, 0, 1])
    with pytest.raises(ar.errors.DamagedFileError):
        ar.FairnessMonitor.from_json(json.dumps(MONITOR.sealed(monitor.state() | changed)))


def test_a_fraction_is_a_number_as_others():
    fractions, floats = (ar.FairnessMonitor(level=half / 5, limit=half, decay=half) for half in (Fraction(1, 2), 0.5))
    for monitor in (fractions, floats):
        monitor.add([1, 0, 1, 1], [0, 0, 1, 1])
    assert fractions.to_json() == floats.to_json() and fractions.report().high == floats.report().high
