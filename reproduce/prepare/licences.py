"""Licences of the packages that are installed and of the data, in one page, and a bill of materials of the packages.

`make licences` writes docs/licences.md and docs/sbom.json (CycloneDX 1.6) from the lock files, the metadata of what is
installed, and docs/data_cards.md; the same bytes whenever these are the same.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import aranyani_tf
from aranyani_tf.files import whole_file
from harness import ROOT
from prepare.lock import CUDA
from prepare.packages import UNCLEAR, Package, asked_for, read_packages

PAGE, BILL, CARDS = ROOT / "docs" / "licences.md", ROOT / "docs" / "sbom.json", ROOT / "docs" / "data_cards.md"
INTRODUCTION = """# Licences

Written by `make licences` from the lock files (`locks/`), the metadata of the installed packages and the
[data cards](data_cards.md); [sbom.json](sbom.json) has the packages once more, for programs (CycloneDX 1.6).
aranyani_tf itself is under the MIT licence ([LICENSE](../LICENSE)). It is our reading, and no legal advice.
"""


def data_licences(cards: str) -> dict[str, str]:
    """Dataset → what its card says of the licence.

    >>> data_licences("## `one`\\n| Source | s |\\n| Licence | CC0; shipped |\\n")
    {'one': 'CC0; shipped'}
    """
    return dict(re.findall(r"^## `(\w+)`\n.*?^\| Licence \| (.*?) \|$", cards, re.MULTILINE | re.DOTALL))


def page(packages: list[Package], data: dict[str, str]) -> str:
    unclear = [each for each in packages if each.licence == UNCLEAR]
    others = [each for each in unclear if each.locks != (CUDA,)]
    counted = Counter(each.licence for each in packages if each.licence != UNCLEAR)
    lines = [INTRODUCTION, "## Packages", "", f"{len(packages)} packages: " + ", ".join(
        f"{count} {licence}" for licence, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])))
        + f"; {len(unclear)} unclear.", ""]
    lines += [f"Unclear are {told(others)}, and the {len(unclear) - len(others)} of `locks/cuda.txt`, which the public "
              "build of torch needs and a CPU build does not (NVIDIA's, and triton): they were not installed where "
              "this was written, so that nothing was read of them.", "",
              "| package | version | licence | told by | lock |", "|---|---|---|---|---|"]
    lines += [f"| {each.name} | {each.version} | {each.licence} | {each.told_by} | {', '.join(each.locks)} |"
              for each in packages]
    lines += ["", "## Data", "", "The cards have source and citation of each. What is not shipped is fetched or made "
              "on the user's machine, under the source's terms.", "", "| dataset | licence |", "|---|---|"]
    lines += [f"| [`{name}`](data_cards.md#{name}) | {licence} |" for name, licence in data.items()]
    return "\n".join(lines) + "\n"


def told(packages: Iterable[Package]) -> str:
    return ", ".join(f"{each.name} ({each.told_by})" for each in packages)


def bill(packages: list[Package]) -> dict[str, Any]:
    """CycloneDX's document; it has neither a time nor a random number, so that it changes only with the packages."""
    known = {each.name: reference(each.name, each.version) for each in packages}
    asked = {canonicalize_name(Requirement(line).name) for lines in asked_for().values() for line in lines}
    ours = reference("aranyani-tf", aranyani_tf.__version__)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "library", "bom-ref": ours, "name": "aranyani_tf",
                                   "version": aranyani_tf.__version__, "purl": ours,
                                   "licenses": [{"license": {"id": "MIT"}}]}},
        "components": [component(each) for each in packages],
        "dependencies": [{"ref": ours, "dependsOn": sorted(known[name] for name in asked)}] + [
            {"ref": known[each.name], "dependsOn": sorted(known[name] for name in each.needs)} for each in packages]}


def component(package: Package) -> dict[str, Any]:
    found = {"type": "library", "bom-ref": reference(package.name, package.version), "name": package.name,
             "version": package.version, "purl": reference(package.name, package.version),
             "properties": [{"name": "aranyani_tf:lock", "value": f"locks/{lock}.txt"} for lock in package.locks]}
    if package.licence != UNCLEAR:
        found["licenses"] = [{"expression": package.licence}]
    return found


def reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def write(path: Path, text: str) -> None:
    with whole_file(path, "w") as file:
        file.write(text)
    print(f"→ {path.relative_to(ROOT)}")


def main() -> None:
    packages = list(read_packages())
    write(PAGE, page(packages, data_licences(CARDS.read_text(encoding="utf-8"))))
    write(BILL, json.dumps(bill(packages), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
