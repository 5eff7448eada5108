"""Which models the engine takes, and what it says of the others."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.baselines.fermi import Fermi
from aranyani_tf.baselines.reservoir import Reservoir
from aranyani_tf.fairness.constraints import MAKERS
from aranyani_tf.fairness.forest_levels import NodeConstraint
from engine_rows import SMALL, learned, rows, same

optimizers = keras.optimizers


class AmongLowLabels(ar.Notion):
    """Looks at labels alone, also at missing ones; of a regression it looks at the target itself."""

    def conditions(self, labels, outputs, num_labels):
        return (labels < 1)[:, None]


class AmongHighTargets(ar.Notion):
    def conditions(self, labels, outputs, num_labels):
        return tf.stack([labels > 0.3, labels <= 0.3], axis=1)

    def num_conditions(self, num_labels):
        return 2


class AmongAccepted(ar.Notion):
    def conditions(self, labels, outputs, num_labels):
        return (outputs[:, 1] > 0.5)[:, None]


class Cubic(ar.L2):
    def value(self, gaps):
        return tf.reduce_sum(tf.abs(gaps) ** 3 / 3)

    def gradient(self, gaps):
        return tf.abs(gaps) * gaps


class OwnConstraint(NodeConstraint):
    pass


class OwnSubclass(ar.Aranyani):
    def make_constraint(self, objective, num_features):
        return NodeConstraint(self.learner, objective, num_features)


class RenamedOnly(ar.Aranyani):
    pass


def gate(z):
    return 0.5 + 0.5 * tf.tanh(z)


def predictor():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activation="softmax")])


TAKEN = {
    "default": {}, "leaf": {"constraint": "leaf"}, "output": {"constraint": "output"}, "l2": {"penalty": "l2"},
    "released": {"penalty": ar.Huber(linear_slope=1.0)}, "smootherstep": {"activation": "smootherstep"},
    "regression": {"num_labels": 1}, "loss": {"notion": "representation_parity"},
    "positive": {"notion": ar.EqualOpportunity(positive_label=0)}, "offline": {"samples_per_step": 4, "online": False},
    "own notion": {"notion": AmongLowLabels()},
    "own notion of targets": {"notion": AmongHighTargets(), "num_labels": 1},
    "norms": {"record_gradients": True}, "float64": {"dtype": "float64"}}


@pytest.mark.parametrize("settings", TAKEN.values(), ids=TAKEN)
def test_the_engine_takes_a_forest(settings):
    model = ar.Aranyani(**settings)
    assert model.reason_for_xla() is None and model.engine == "numba"
    model.compile(engine="numba")
    assert model.engine == "numba"


LEFT = {
    "predictor": (lambda: ar.Aranyani(predictor=predictor()), "it serves forests, not predictors"),
    "encoder": (lambda: ar.Aranyani(encoder=keras.layers.Dense(3)), "there is an encoder in front of the forest"),
    "mask": (lambda: ar.Aranyani(routing="mask"), "it routes by levels, not by 'mask'"),
    "hard sigmoid": (lambda: ar.Aranyani(activation="hard_sigmoid"), "it knows nothing of the activation hard_sigmoid"),
    "own gate": (lambda: ar.Aranyani(activation=gate), "it knows nothing of the activation gate"),
    "own penalty": (lambda: ar.Aranyani(penalty=Cubic()), "it knows nothing of the penalty Cubic"),
    "notion of outputs": (lambda: ar.Aranyani(notion=AmongAccepted()), "AmongAccepted looks at what the model said"),
    "own constraint": (lambda: ar.Aranyani(constraint="own"), "it knows nothing of the constraint OwnConstraint"),
    "released slip": (lambda: ar.Aranyani(constraint="summed_output"), "it knows nothing of the constraint"),
    "fermi": (lambda: Fermi(), "Fermi has a make_constraint of its own"),
    "reservoir": (lambda: Reservoir(capacity=10), "Reservoir has a make_constraint of its own"),
    "own subclass": (lambda: OwnSubclass(), "OwnSubclass has a make_constraint of its own")}


@pytest.mark.parametrize(("make", "reason"), LEFT.values(), ids=LEFT)
def test_tensorflow_s_step_takes_the_rest_and_the_reason_is_told(make, reason, monkeypatch):
    monkeypatch.setitem(MAKERS, "own", OwnConstraint)
    model = make()
    assert model.engine == "xla" and reason in model.reason_for_xla()
    model.compile()
    assert model.engine == "xla" and reason in model.reason_for_xla()
    with pytest.raises(ar.errors.ArgumentError, match="cannot learn this model") as told:
        model.compile(engine="numba")
    assert reason in str(told.value)


def test_a_subclass_that_learns_as_its_base_does_is_taken():
    assert RenamedOnly(**SMALL).engine == "numba"


COMPILED = {
    "adam": (lambda: {"optimizer": optimizers.Adam(1e-3)}, None),
    "adam's other settings": (lambda: {"optimizer": optimizers.Adam(1e-3, 0.8, 0.9, 1e-5)}, None),
    "name": (lambda: {"optimizer": "sgd"}, None),
    "nesterov": (lambda: {"optimizer": optimizers.SGD(0.1, momentum=0.9, nesterov=True)}, None),
    "amsgrad": (lambda: {"optimizer": optimizers.Adam(amsgrad=True)}, "the optimizer's amsgrad"),
    "adamw": (lambda: {"optimizer": optimizers.AdamW()}, "the optimizer AdamW"),
    "rmsprop": (lambda: {"optimizer": optimizers.RMSprop()}, "the optimizer RMSprop"),
    "decay": (lambda: {"optimizer": optimizers.Adam(weight_decay=0.01)}, "the optimizer's weight_decay"),
    "clipnorm": (lambda: {"optimizer": optimizers.SGD(clipnorm=1)}, "the optimizer's clipnorm"),
    "global clipnorm": (lambda: {"optimizer": optimizers.SGD(global_clipnorm=1)}, "the optimizer's global_clipnorm"),
    "clipvalue": (lambda: {"optimizer": optimizers.SGD(clipvalue=1)}, "the optimizer's clipvalue"),
    "accumulation": (lambda: {"optimizer": optimizers.SGD(gradient_accumulation_steps=2)}, "gradient_accumulation"),
    "loss scale": (lambda: {"optimizer": optimizers.SGD(loss_scale_factor=2.0)}, "the optimizer's loss_scale_factor"),
    "schedule": (lambda: {"optimizer": optimizers.Adam(optimizers.schedules.ExponentialDecay(0.1, 10, 0.9))},
                 "the learning rate has a schedule"),
    "eager": (lambda: {"run_eagerly": True}, "run_eagerly=True is TensorFlow's"),
    "xla": (lambda: {"engine": "xla"}, "engine='xla' was asked for")}


@pytest.mark.parametrize(("arguments", "reason"), COMPILED.values(), ids=COMPILED)
def test_what_compile_is_given_decides_too(arguments, reason):
    model = ar.Aranyani(**SMALL)
    model.compile(**arguments())
    assert model.engine == ("numba" if reason is None else "xla")
    assert reason is None or reason in model.reason_for_xla()
    if reason is not None and "engine" not in arguments():
        with pytest.raises(ar.errors.ArgumentError, match="cannot learn this model") as told:
            model.compile(**arguments(), engine="numba")
        assert reason in str(told.value)


def test_an_engine_that_is_none_is_refused():
    with pytest.raises(ar.errors.ArgumentError, match=r"engine must be .*numba.*nonsense"):
        ar.Aranyani().compile(engine="nonsense")


def test_an_engine_that_is_refused_changes_nothing(tmp_path):
    """As every wrong argument: the model goes on with its optimizer, and a file of it can be loaded."""
    model, stream = ar.Aranyani(**SMALL, routing="mask"), rows(20)
    model.predict_then_learn(*stream)
    before, optimizer = learned(model), model.optimizer
    with pytest.raises(ar.errors.ArgumentError, match="cannot learn this model"):
        model.compile(engine="numba")
    assert model.optimizer is optimizer and same(before, learned(model))
    assert model.wanted_engine == "auto" and "engine" not in model.get_compile_config()
    model.save(tmp_path / "model.keras")
    assert same(before, learned(keras.saving.load_model(tmp_path / "model.keras")))


def test_compiling_again_decides_again():
    model, stream = ar.Aranyani(**SMALL), rows(20)
    for engine in ("xla", "numba", "auto", "xla"):
        model.compile(engine=engine)
        assert model.engine == ("xla" if engine == "xla" else "numba")
        model.predict_then_learn(*stream)
    assert model.so_far()["rows"] == 80


def test_a_saved_model_keeps_the_engine_that_was_asked_for(tmp_path):
    for engine in ("numba", "xla"):
        model = ar.Aranyani(**SMALL)
        model.compile(engine=engine)
        model.predict_then_learn(*rows(10))
        model.save(tmp_path / "model.keras")
        assert keras.saving.load_model(tmp_path / "model.keras").engine == engine


@pytest.mark.parametrize(("settings", "options"), [
    ({"notion": AmongLowLabels()}, {}),
    ({"notion": AmongLowLabels(), "num_groups": 3, "num_labels": 3, "constraint": "leaf"},
     {"num_groups": 3, "num_labels": 3}),
    ({"notion": AmongHighTargets(), "num_labels": 1}, {"num_labels": 1}),
    ({"notion": AmongHighTargets(), "num_labels": 1, "constraint": "output", "samples_per_step": 3, "num_groups": 3},
     {"num_labels": 1, "num_groups": 3}),
    ({"activation": "smootherstep"}, {}), ({"activation": "smootherstep", "constraint": "leaf"}, {}),
    ({"activation": "smootherstep", "constraint": "output", "num_labels": 1}, {"num_labels": 1})],
    ids=["labels", "labels at leaves", "targets", "targets at the output", "smootherstep", "smootherstep at leaves",
         "smootherstep at the output"])
def test_notions_of_one_s_own_and_other_gates_give_the_same_numbers_by_both_engines(settings, options):
    stream, found = rows(80, missing=0.15, **options), []
    for engine in ("numba", "xla"):
        model = ar.Aranyani(**SMALL | settings, dtype="float64", fairness_weight=3.0)
        model.compile(engine=engine)
        said = model.predict_then_learn(*stream)
        assert model.engine == engine
        found.append([said, *learned(model)])
        assert model.statistics.cell_count.numpy().sum() > 5
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("optimizer", [
    lambda: optimizers.Adam(0.01, 0.8, 0.95, 1e-5), lambda: optimizers.SGD(0.1),
    lambda: optimizers.SGD(0.05, momentum=0.9), lambda: optimizers.SGD(0.05, momentum=0.9, nesterov=True)],
    ids=["adam", "sgd", "momentum", "nesterov"])
def test_every_optimizer_that_is_taken_moves_weights_as_keras_s_does(optimizer):
    stream, found = rows(80), []
    for engine in ("numba", "xla"):
        model = ar.Aranyani(**SMALL, dtype="float64", fairness_weight=3.0)
        model.compile(optimizer(), engine=engine)
        model.predict_then_learn(*stream)
        model.optimizer.learning_rate = 3e-3
        found.append([model.predict_then_learn(*stream), *learned(model)])
        assert model.engine == engine
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
