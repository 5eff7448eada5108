"""State as text: JSON that says what it is, which version wrote it, and whether it is still what was written."""

import hashlib
import json
from typing import Any

from aranyani_tf.errors import DamagedFileError


def sealed(kind: str, version: int, state: dict[str, Any]) -> str:
    """The state as JSON, with its kind, its version and a check sum.

    >>> text = sealed("point", 1, {"x": 0.1, "y": [2, 3]})
    >>> unsealed(text, "point", 1)
    {'x': 0.1, 'y': [2, 3]}
    """
    return json.dumps({"kind": kind, "version": version, "sha256": check_sum(state), "state": state}, indent=1,
                      default=plain)


def unsealed(text: str, kind: str, version: int, place: str = "the text") -> dict[str, Any]:
    """The state that `sealed` was given; refuses what is of another kind, of a later version, or was changed."""
    try:
        content = json.loads(text)
        found, written, digest, state = (content[key] for key in ("kind", "version", "sha256", "state"))
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"{place} is no {kind} that was saved, or was cut short; take an older copy") from error
    if found != kind:
        raise DamagedFileError(f"{place} is a {found!r}, not a {kind!r}")
    if written != version:
        raise DamagedFileError(f"{place} is of version {written!r} of {kind!r}, and this package reads version "
                               f"{version}; load it with the package that wrote it")
    if digest != check_sum(state):
        raise DamagedFileError(f"{place} is not what was written: its check sum differs; take an older copy")
    return state


def check_sum(state: dict[str, Any]) -> str:
    """Of the values themselves, whatever the spaces and the order of the keys."""
    text = json.dumps(state, sort_keys=True, separators=(",", ":"), allow_nan=False, default=plain)
    return hashlib.sha256(text.encode()).hexdigest()


def plain(number: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return number.item()
