"""Locks, licences and the bill of materials are those of constraints.txt, of setup.py and of what is installed."""

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from license_expression import get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from aranyani_tf import datasets
from prepare import licences, lock
from prepare.packages import UNCLEAR, asked_for, licence_in, locked, needs_of

ROOT = Path(__file__).parents[2]
AGAIN = "run `make lock`, then `make licences`"


@pytest.fixture(scope="module")
def pins():
    return lock.pins_of((ROOT / "constraints.txt").read_text(encoding="utf-8"))


def names_of(target):
    return set(lock.pins_of((lock.LOCKS / f"{target}.txt").read_text(encoding="utf-8")))


def brought_by(extras):
    """Names of all that our extras bring along on this machine, by the metadata of what is installed."""
    asked = [Requirement(line) for extra in ("", *extras) for line in asked_for()[extra]]
    waiting, seen = [(canonicalize_name(each.name), extra) for each in asked for extra in ("", *each.extras)], set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) not in seen:
            seen.add((name, extra))
            waiting += [(needed, further) for needed, extras in needs_of(distribution(name), (extra,)).items()
                        for further in ("", *extras)]
    return {name for name, _ in seen}


def test_locks_have_the_versions_of_constraints_and_all_of_them(pins):
    found = dict(pin for pin, locks in locked().items() if locks != (lock.CUDA,))
    assert found == pins, AGAIN


@pytest.mark.parametrize("target", lock.TARGETS)
def test_a_lock_has_what_its_target_needs_and_setup_lacks(target):
    first = set() if target == lock.FIRST else names_of(lock.FIRST)
    try:
        needed = brought_by(lock.TARGETS[target])
    except PackageNotFoundError as error:  # what a package brings is known where it is installed
        pytest.skip(f"{error.name} is not installed; `make {target}` does it")
    assert names_of(target) == needed - first - names_of(lock.CUDA), AGAIN  # torch is there


@pytest.mark.parametrize("path", sorted(lock.LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_line_is_a_pin_with_hashes(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith(lock.HEADER.format(name=path.relative_to(ROOT)))
    blocks = lock.blocks_of(text)
    assert "".join(blocks.values()) == text.partition("\n")[2] and list(blocks) == sorted(blocks)
    for block in blocks.values():
        assert re.fullmatch(r"\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", block), block


def test_the_makefile_installs_nothing_else():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\(LOCKED\) locks/(\w+)\.txt", makefile)) == {*lock.TARGETS, lock.CPU, lock.CUDA}
    assert re.findall(r"\$\(PIP_INSTALL\) (.+)", makefile) == ["--require-hashes -r", "-e ."]
    assert "--no-deps --no-build-isolation" in makefile and len(re.findall(r"pip install", makefile)) == 1


def test_torch_has_two_builds_of_one_version(pins):
    assert names_of(lock.CPU) == {"torch"} < names_of(lock.CUDA)
    assert lock.TORCH_CPU[1] not in (lock.LOCKS / "cuda.txt").read_text(encoding="utf-8")
    assert (lock.LOCKS / "torch_cpu.txt").read_text(encoding="utf-8").endswith(lock.cpu_build(pins["torch"]))
    with pytest.raises(SystemExit, match="put the sha256 of the CPU build"):
        lock.cpu_build("9.9.9")


def test_what_is_not_pinned_or_not_needed_is_told():
    version = lock.TORCH_CPU[0]
    resolved = {"setup": {"a": "a==1 \\\n"}, "everything": {"a": "a==1 \\\n", "torch": f"torch=={version} \\\n",
                                                             "nv": "nv==3 \\\n"}}
    files = lock.split(resolved, ["torch", "nv"], {"a": "1", "torch": version})
    assert {name: set(blocks) for name, blocks in files.items()} == {
        "setup": {"a"}, "everything": set(), "cuda": {"nv", "torch"}, "torch_cpu": {"torch"}}
    with pytest.raises(SystemExit, match=r"does not have nv==3, which setup\.py asks for"):
        lock.split(resolved, ["torch"], {"a": "1", "torch": version})
    with pytest.raises(SystemExit, match="has b, which nothing asks for"):
        lock.split(resolved, ["torch", "nv"], {"a": "1", "b": "1", "torch": version})


def test_the_list_of_licences_is_current():
    text = licences.PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w.-]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \| [^|]+ \|$", text.partition("|---|")[2], re.M)
    assert {(name, version) for name, version, _ in rows} == set(locked()), AGAIN
    known = get_spdx_licensing()
    for name, _, licence in rows:
        assert licence == UNCLEAR or not known.validate(licence, strict=True).errors, name
    unclear = {name for name, _, licence in rows if licence == UNCLEAR} - names_of(lock.CUDA)
    assert all(re.search(rf"Unclear are .*\b{name} \(", text) for name in unclear) and len(unclear) < 8


def test_every_dataset_has_a_licence_in_the_list():
    data = licences.data_licences(licences.CARDS.read_text(encoding="utf-8"))
    assert set(data) == set(datasets.names())
    text = licences.PAGE.read_text(encoding="utf-8")
    assert all(f"| [`{name}`](data_cards.md#{name}) | {licence} |" in text for name, licence in data.items()), AGAIN


def test_the_bill_of_materials_is_current_and_follows_its_schema():
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = licences.BILL.read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert {(each["name"], each["version"]) for each in bill["components"]} == set(locked()), AGAIN
    references = {each["bom-ref"] for each in (*bill["components"], bill["metadata"]["component"])}
    assert {each["ref"] for each in bill["dependencies"]} == references
    assert all(set(each["dependsOn"]) <= references for each in bill["dependencies"])
    assert text == json.dumps(bill, indent=1, ensure_ascii=False) + "\n"


def test_a_licence_is_known_by_its_words():
    assert licence_in("Permission is hereby granted, free of charge, to any\nperson obtaining a copy of this") == "MIT"
    assert licence_in("Redistribution and use in source and binary forms are permitted") == "BSD-2-Clause"
    assert licence_in("all rights reserved") is None
