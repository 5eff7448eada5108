"""Arrays of embeddings in other types than the job writes, and files that hold none."""

import io
import zipfile

import numpy as np
import pytest

import aranyani_tf as ar
from aranyani_tf.embeddings.cache import write_array, write_manifest


def folder_of(path, features, labels=(0, 1), groups=(1, 0)):
    for name, array in (("features", features), ("labels", np.array(labels)), ("groups", np.array(groups))):
        write_array(path / f"{name}.npy", array)
    write_manifest(path, {"dataset": "celeba"})
    return path


def test_features_in_float32_can_be_used(tmp_path):
    stream = ar.datasets.load("celeba", embeddings=folder_of(tmp_path, np.ones((2, 3), "float32")))
    np.testing.assert_allclose(np.linalg.norm(stream.features, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize(("labels", "told"), [
    ([0, 7], "must be 0"), ([0.5, 1.0], "must be 0"), (["a", "b"], "must be numbers")])
def test_labels_that_are_no_codes_are_refused(labels, told, tmp_path):
    with pytest.raises(ar.errors.RowError, match=told):
        ar.datasets.load("celeba", embeddings=folder_of(tmp_path, np.ones((2, 3), "float16"), labels))


def test_a_manifest_without_hashes_is_damaged(tmp_path):
    folder_of(tmp_path, np.ones((2, 3), "float16"))
    (tmp_path / "manifest.json").write_text('{"sha256": [1]}', encoding="utf-8")
    with pytest.raises(ar.errors.DamagedFileError, match="no sha256 of each array"):
        ar.datasets.load("celeba", embeddings=tmp_path)


def test_an_archive_with_other_bytes_than_arrays_is_refused(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("features", "labels", "groups"):
            archive.writestr(f"{name}.npy", b"no array")
    (tmp_path / "e.npz").write_bytes(file.getvalue())
    with pytest.raises(ar.errors.RowError, match="of floats"):
        ar.datasets.load("celeba", embeddings=tmp_path / "e.npz")
