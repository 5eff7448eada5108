"""Reactions to a stream that changes, all of Aranyani at the output level: `make reactions` compares them.

They are no contenders of the field, which has the best of them already.
"""

import aranyani_tf as ar
from aranyani_tf.baselines.adwin_reset import AdwinReset
from harness.registry import register_method

DECAYS = (0.001, 0.003, 0.01)


def model(seed, fairness_weight, stream, **settings):
    """The penalty's slope is 1, as with a target; nobody waits for a group that may not come for long."""
    return ar.Aranyani(fairness_weight=fairness_weight, constraint="output", penalty=ar.Huber(linear_slope=1.0),
                       num_groups=stream.num_groups, seed=seed, **settings)


def forgetting(decay):
    """The function that `register_method` wants."""
    def learner(seed, fairness_weight, stream):
        return model(seed, fairness_weight, stream, decay=decay, forget="time")
    return learner


def triggered(watch):
    """Likewise."""
    def learner(seed, fairness_weight, stream):
        return AdwinReset(model(seed, fairness_weight, stream), watch)
    return learner


ALL = {"field": False, "nanoseconds": 400, "fairness_weights": (1.0,)}

register_method("react_without", label="λ = 0", marker=".", color="#999999", field=False, nanoseconds=400,
                learner=lambda seed, fairness_weight, stream: model(seed, 0.0, stream))
register_method("react_never", label="plain means", marker="o", color="#000000", learner=model, **ALL)
register_method("react_decay_1", label="decay 0.001", marker="v", color="#9ECAE1", learner=forgetting(DECAYS[0]), **ALL)
register_method("react_decay_3", label="decay 0.003", marker="^", color="#4292C6", learner=forgetting(DECAYS[1]), **ALL)
register_method("react_decay_10", label="decay 0.01", marker="s", color="#08519C", learner=forgetting(DECAYS[2]), **ALL)
register_method("react_target", label="ParityTarget(0.05)", marker="D", color="#009E73", field=False, nanoseconds=400,
                fairness_weights=(0.05,), steered=True,
                learner=lambda seed, target, stream: model(seed, ar.ParityTarget(target), stream))
register_method("react_adwin_error", label="ADWIN on the error", marker="P", color="#E69F00",
                learner=triggered("error"), **ALL | {"nanoseconds": 2_000})
register_method("react_adwin_gap", label="ADWIN on the gap", marker="X", color="#D55E00", learner=triggered("gap"),
                **ALL | {"nanoseconds": 2_000})
