"""A stream is learned to the same bits however it is cut, by whichever method, and in whichever process."""

import functools

import keras
import numpy as np
import pytest

import aranyani_tf as ar
import forked
from engine_rows import learned, pieces, rows, same

NUM_ROWS = 140
SETTINGS = {
    "node": {}, "leaf": {"constraint": "leaf", "num_trees": 1, "height": 4},
    "output": {"constraint": "output", "num_groups": 3, "num_labels": 3, "chance": 1.0},
    "regression": {"num_labels": 1, "decay": 0.01},
    "sgd": {"constraint": "output", "notion": "representation_parity"},
    "five": {"samples_per_step": 5, "notion": "equalized_odds", "forget": "time", "decay": 0.02}}


def model_of(name):
    model = ar.Aranyani(**{"num_trees": 3, "height": 3, "seed": 4, "fairness_weight": 5.0} | SETTINGS[name])
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9) if name == "sgd" else None, engine="numba")
    return model


def stream_of(name):
    settings = SETTINGS[name]
    return rows(NUM_ROWS, num_labels=settings.get("num_labels", 2), num_groups=settings.get("num_groups", 2),
                missing=0.1, seed=3)


@functools.cache
def at_once(name):
    """What is said and learned in one call."""
    model = model_of(name)
    said = model.predict_then_learn(*stream_of(name))
    assert np.isfinite(said).all() and np.ptp(said[:, 0]) > 0.01
    return said, learned(model), model.so_far()


def calls(size):
    def by(model, stream):
        return np.concatenate([model.predict_then_learn(*piece) for piece in pieces(stream, size)])
    return by


def fit(batch_size):
    def by(model, stream):
        x, y, a = stream
        model.fit({"features": x, "group": a}, y, batch_size=batch_size, verbose=0)
    return by


def live_calls(size):
    def by(model, stream):
        with model.live() as live:
            return np.concatenate([live.predict_then_learn(*piece) for piece in pieces(stream, size)])
    return by


def live_rows(model, stream):
    with model.live() as live:
        return np.stack([live.predict_then_learn(x, y, a) for x, y, a in zip(*stream, strict=True)])


def mixed(model, stream):
    parts = list(pieces(stream, 35))
    said = [model.predict_then_learn(*parts[0])]
    fit(10)(model, parts[1])
    with model.live() as live:
        said = [*said, np.full_like(said[0], np.nan), live.predict_then_learn(*parts[2])]
        live.flush()
        said.append(live.predict_then_learn(*parts[3]))
    return np.concatenate([*said, *(model.predict_then_learn(*part) for part in parts[4:])])


WAYS = {"calls of 1": calls(1), "calls of 7": calls(7), "calls of 64": calls(64), "fit by 7": fit(7),
        "fit by 64": fit(64), "fit by 4096": fit(4096), "live": live_rows, "live by 7": live_calls(7), "mixed": mixed}
WHOLE_STEPS = {"calls of 5": calls(5), "calls of 35": calls(35), "fit by 5": fit(5), "fit by 64": fit(64),
               "fit by 4096": fit(4096), "live by 5": live_calls(5), "live by 100": live_calls(100), "mixed": mixed}
RUNS = [(name, way) for name in SETTINGS for way in (WHOLE_STEPS if name == "five" else WAYS)]


@pytest.mark.parametrize(("name", "way"), RUNS, ids=["-".join(run) for run in RUNS])
def test_it_makes_no_difference_how_a_stream_is_cut(name, way):
    model, (said, expected, so_far) = model_of(name), at_once(name)
    found = (WHOLE_STEPS if name == "five" else WAYS)[way](model, stream_of(name))
    assert same(expected, learned(model))
    if found is not None:
        np.testing.assert_array_equal(found[~np.isnan(found)], said[~np.isnan(found)])
    assert model.so_far() == pytest.approx(so_far, rel=1e-5)


GO_ON = """
import sys
from pathlib import Path
import keras, numpy as np
import aranyani_tf
for path in sorted(Path(sys.argv[1]).glob("*.keras")):
    model, rows = keras.saving.load_model(path), np.load(path.with_suffix(".npz"))
    said = model.predict_then_learn(rows["x"], rows["y"], rows["a"])
    learned = [*model.get_weights(), *(variable.numpy() for variable in model.optimizer.variables)]
    np.savez(path.with_suffix(".after.npz"), said, *learned)
"""


def test_a_saved_model_goes_on_to_the_same_bits_in_another_process(tmp_path):
    half = 70
    for name in SETTINGS:
        model, stream = model_of(name), stream_of(name)
        model.predict_then_learn(*(array[:half] for array in stream))
        model.save(tmp_path / f"{name}.keras")
        np.savez(tmp_path / f"{name}.npz", **dict(zip("xya", (array[half:] for array in stream), strict=True)))
    done = forked.python("-c", GO_ON, tmp_path)
    assert done.returncode == 0, done.stderr
    for name in SETTINGS:
        said, expected, _ = at_once(name)
        with np.load(tmp_path / f"{name}.after.npz") as file:
            found = [file[f"arr_{index}"] for index in range(len(file.files))]
        assert same([said[half:], *expected], found), name


def test_the_same_seed_gives_the_same_bits_and_another_one_others():
    said = [model.predict_then_learn(*stream_of("node")) for model in (model_of("node"), ar.Aranyani(
        num_trees=3, height=3, seed=5, fairness_weight=5.0))]
    np.testing.assert_array_equal(said[0], at_once("node")[0])
    assert not np.array_equal(said[0], said[1])
