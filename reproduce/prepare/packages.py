"""The packages of the lock files, with what their installed metadata tells: licence, and what they need themselves."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness import ROOT
from prepare.lock import CPU, CUDA, LOCKS, TARGETS, pins_of

UNCLEAR = "unclear"
NAMES = {  # how packages spell it → SPDX
    "Apache-2.0": ("Apache 2.0", "Apache License 2.0", "Apache License, Version 2.0", "Apache 2.0 License",
                   "Apache Software License"),
    "BSD-2-Clause": ("BSD 2-Clause",), "BSD-3-Clause": ("BSD 3-Clause", "3-Clause BSD License", "BSD 3-Clause License"),
    "ISC": ("ISC License", "ISC License (ISCL)"), "MIT": ("MIT License",), "PSF-2.0": (),
    "MPL-2.0": ("Mozilla Public License 2.0 (MPL 2.0)",), "MPL-2.0 AND MIT": (), "MIT OR Apache-2.0": ()}
SPDX = {name.lower(): licence for licence, names in NAMES.items() for name in (licence, *names)}


@dataclass(frozen=True)
class Package:
    """One of a lock file.

    Args:
        locks: the files that have it.
        licence: an SPDX expression, or UNCLEAR.
        told_by: from where the licence is known, or what there is if it is unclear.
        needs: names of what it asks for, as installed here.
    """

    name: str
    version: str
    locks: tuple[str, ...]
    licence: str
    told_by: str
    needs: tuple[str, ...]


def locked() -> dict[tuple[str, str], tuple[str, ...]]:
    """(Name, version) → the lock files that have it, in the order of names."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for lock in (*TARGETS, CPU, CUDA):
        for pin in pins_of((LOCKS / f"{lock}.txt").read_text(encoding="utf-8")).items():
            found[pin] = (*found.get(pin, ()), lock)
    return dict(sorted(found.items()))


def read_packages() -> Iterator[Package]:
    pins = locked()
    names = {name for name, _ in pins}
    for (name, version), locks in pins.items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            if locks != (CUDA,):
                raise SystemExit(f"{name}=={version} is not installed; `make everything docs` does it") from None
            yield Package(name, version, locks, UNCLEAR, "not installed where this was written", ())
            continue
        if found.version.partition("+")[0] != version:  # a CPU build is 2.13.0+cpu
            raise SystemExit(f"{name} {found.version} is installed, and the lock has {version}; `make everything docs`")
        yield Package(name, version, locks, *licence_of(found), tuple(sorted(set(needs_of(found)) & names)))


def needs_of(found: Distribution, extras: Iterable[str] = ()) -> dict[str, set[str]]:
    """Name → extras of it, of what a package with some extras asks for on this machine."""
    needs: dict[str, set[str]] = {}
    for each in map(Requirement, found.requires or ()):
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            needs.setdefault(canonicalize_name(each.name), set()).update(each.extras)
    return needs


def asked_for() -> dict[str, list[str]]:
    """Extra → what setup.py asks for with it, as it stands in the file; "" is what everybody gets."""
    (call,) = (node for node in ast.walk(ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")))
               if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setup")
    found = {each.arg: each.value for each in call.keywords}
    return {"": ast.literal_eval(found["install_requires"]), **ast.literal_eval(found["extras_require"])}


def licence_of(found: Distribution) -> tuple[str, str]:
    """The licence, and from where it is known: the field that is made for it, others, or the licence's own text."""
    told = found.metadata
    if expression := told.get("License-Expression"):
        return expression, "License-Expression"
    field = (told.get("License") or "").strip()
    if (name := re.sub(r"\blicense$", "License", field).lower()) in SPDX:
        return SPDX[name], "License"
    classifiers = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if line[:9] == "License :"]
    if len(classifiers) == 1 and classifiers[0].lower() in SPDX:
        return SPDX[classifiers[0].lower()], "classifier"
    if licence := licence_in(f"{field}\n{text_of(found)}"):
        return licence, "licence's text"
    return UNCLEAR, ", ".join(classifiers) or field.partition("\n")[0] or "nothing is said"


def text_of(found: Distribution) -> str:
    """The first licence file that a package has in its metadata."""
    files = [file for file in found.files or () if re.search(r"\.dist-info/.*(licen[cs]e|copying)", str(file), re.I)]
    return files[0].locate().read_text(encoding="utf-8", errors="replace") if files else ""


def licence_in(text: str) -> str | None:
    """By the words that only one licence has; None if there are several, or none.

    >>> licence_in("Redistribution and use in source and binary forms … Neither the name of the copyright holder")
    'BSD-3-Clause'
    """
    words = " ".join(text.split()).lower()
    found = []
    if "redistribution and use in source and binary forms" in words:
        found.append("BSD-3-Clause" if "to endorse or promote products" in words or "neither the name" in words
                     else "BSD-2-Clause")
    if "permission is hereby granted, free of charge, to any person obtaining a copy" in words:
        found.append("MIT")
    if "apache license version 2.0, january 2004" in words:
        found.append("Apache-2.0")
    return found[0] if len(found) == 1 else None
