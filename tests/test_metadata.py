"""What the project says of itself: one version everywhere, a citation that can be read, pins for all it asks for."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import aranyani_tf as ar

ROOT = Path(__file__).parents[1]
EXTRAS = ("baselines", "docs", "embeddings", "export", "plots", "ray", "reproduce", "scikit", "service", "test")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def arguments_of_setup():
    """Name → value, of what `setup()` is called with, as far as it can be told without a call."""
    (call,) = (node for node in ast.walk(ast.parse(read("setup.py")))
               if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setup")
    found = {}
    for keyword in call.keywords:
        try:
            found[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            continue
    return found


def normalized(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load(read("CITATION.cff"))


def test_the_version_is_the_same_everywhere(citation):
    # In an interpreter of its own that finds no TensorFlow: there is none when pip builds.
    program = "import setuptools, sys; sys.modules['tensorflow'] = sys.modules['keras'] = None; import setup"
    told = subprocess.run([sys.executable, "-c", program, "--version"], cwd=ROOT, capture_output=True, text=True)
    assert told.stdout.split()[-1] == ar.__version__, told.stderr
    assert str(citation["version"]) == ar.__version__
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", read("CHANGELOG.md"), re.MULTILINE)
    assert released[0] == (ar.__version__, str(citation["date-released"]))
    assert "version" not in tomllib.loads(read("pyproject.toml")).get("project", {})


def test_the_changelog_has_its_versions_in_order():
    headings = re.findall(r"^## \[(.+?)\]", read("CHANGELOG.md"), re.MULTILINE)
    numbers = [tuple(map(int, heading.split("."))) for heading in headings if heading != "Unreleased"]
    assert numbers == sorted(numbers, reverse=True) and len(set(numbers)) == len(numbers)
    assert "Unreleased" not in headings[1:]
    kinds = set(re.findall(r"^### (.+)$", read("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_citation_has_what_the_format_asks_for(citation):
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert citation["message"] and citation["title"].startswith("aranyani_tf") and citation["license"] == "MIT"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", citation["date-released"])
    assert set(citation) <= {"cff-version", "message", "type", "title", "version", "date-released", "license",
                             "authors", "abstract", "keywords", "references"}
    (paper,) = citation["references"]
    assert paper["type"] == "conference-paper" and paper["year"] == 2024
    assert paper["title"] == "Enhancing Group Fairness in Online Settings Using Oblique Decision Forests"
    assert [author["family-names"] for author in paper["authors"]] == [
        "Basu Roy Chowdhury", "Monath", "Beirami", "Kidambi", "Dubey", "Ahmed", "Chaturvedi"]
    for author in (*citation["authors"], *paper["authors"]):
        assert set(author) in ({"name"}, {"family-names", "given-names"})


def test_everything_that_is_asked_for_is_pinned():
    pins = dict(line.split("==") for line in read("constraints.txt").splitlines() if not line.startswith("#"))
    assert list(pins) == sorted(pins)
    setup = arguments_of_setup()
    assert sorted(setup["extras_require"]) == sorted(EXTRAS)
    for requirement in sum((setup["extras_require"][extra] for extra in EXTRAS), setup["install_requires"]):
        assert normalized(requirement) in pins, requirement
    assert not any("url" in name for name in setup)


def test_type_checkers_of_other_projects_find_the_hints():
    assert (ROOT / "aranyani_tf" / "py.typed").read_bytes() == b""
    assert "py.typed" in arguments_of_setup()["package_data"]["aranyani_tf"]
