"""`ar.load_model`: a file is what was saved, or is refused by an error of ours; no code of it is run."""

import io
import json
import zipfile

import h5py
import keras
import numpy as np
import pytest

import aranyani_tf as ar
from engine_rows import SMALL, rows


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """(the model, its file)."""
    model, path = ar.Aranyani(**SMALL), tmp_path_factory.mktemp("saved") / "model.keras"
    model.predict_then_learn(*rows())
    model.save(path)
    return model, path


def changed(path, to, **members):
    """A copy of the file with some members written anew: name → function of the old content."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            change = members.get(name.replace(".", "_"), bytes)
            new.writestr(name, change(old.read(name)))
    return to


def with_part(name, part):
    def change(content):
        config = json.loads(content)
        config["config"][name] = part
        return json.dumps(config).encode()

    return change


def test_a_loaded_model_goes_on_as_the_one_that_was_saved(saved):
    model, path = saved
    x, _, _ = rows(seed=1)
    np.testing.assert_array_equal(ar.load_model(path).predict(x), model.predict(x))


def test_a_lambda_layer_is_refused_and_not_run(saved, tmp_path, capsys):
    layer = keras.layers.Lambda(lambda x: print("evil") or x)
    path = changed(saved[1], tmp_path / "m.keras", config_json=with_part(
        "encoder", keras.saving.serialize_keras_object(layer)))
    with pytest.raises(ar.errors.DamagedFileError, match="Lambda layer, which is code"):
        ar.load_model(path)
    assert "evil" not in capsys.readouterr().out


def test_a_class_that_nobody_registered_is_refused_with_what_to_do(saved, tmp_path):
    part = {"module": "somebody.elses", "class_name": "Encoder", "config": {}, "registered_name": "somebody>Encoder"}
    path = changed(saved[1], tmp_path / "m.keras", config_json=with_part("encoder", part))
    with pytest.raises(ar.errors.DamagedFileError, match="Import the module that has it first"):
        ar.load_model(path)


def test_weights_that_are_no_numbers_are_refused(saved, tmp_path):
    def with_nan(content):
        file = io.BytesIO(content)
        with h5py.File(file, "r+") as weights:
            weights["forest/vars/0"][0, 0, 0] = np.nan
        return file.getvalue()

    with pytest.raises(ar.errors.DamagedFileError, match="node_kernel is not all numbers"):
        ar.load_model(changed(saved[1], tmp_path / "m.keras", model_weights_h5=with_nan))


def test_what_is_no_keras_file_is_refused(saved, tmp_path):
    with pytest.raises(ar.errors.ArgumentError, match="got int"):
        ar.load_model(3)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        ar.load_model(tmp_path / "nothing.keras")
    (tmp_path / "model.h5").write_bytes(b"x")
    with pytest.raises(ar.errors.ArgumentError, match=r"no \.keras file by its name"):
        ar.load_model(tmp_path / "model.h5")
    (tmp_path / "cut.keras").write_bytes(saved[1].read_bytes()[:-100])
    with pytest.raises(ar.errors.DamagedFileError, match="damaged"):
        ar.load_model(tmp_path / "cut.keras")


def test_a_setting_of_the_optimizer_that_is_no_number_is_refused(saved, tmp_path):
    def change(content):
        config = json.loads(content)
        config["compile_config"]["optimizer"]["config"]["clipnorm"] = "much"
        return json.dumps(config).encode()

    with pytest.raises(ar.errors.ArgumentError, match="clipnorm must be a number"):
        ar.load_model(changed(saved[1], tmp_path / "m.keras", config_json=change))
