"""Datasets that come out of a package: no test fetches them, those that need one are skipped where it is not there."""

from importlib import import_module

import pytest

from aranyani_tf.embeddings.cache import cache_folder

NAMES = ("acs_employment", "bank", "credit", "law")


def members(name):
    """{path in the package: sha256}."""
    module = import_module(f"aranyani_tf.datasets.{name}")
    return module.MEMBERS if hasattr(module, "MEMBERS") else dict([module.MEMBER])


def skip_unless_fetched(name):
    """The folder is no proof: another dataset's files may come from the same package."""
    if name not in NAMES:
        return
    requirement, _ = import_module(f"aranyani_tf.datasets.{name}").PACKAGE
    folder = cache_folder("packages") / requirement.replace("==", "-")
    if not all((folder / member).is_file() for member in members(name)):
        pytest.skip(f"{name} was not fetched yet: ar.datasets.load({name!r}) does it, with a network")
