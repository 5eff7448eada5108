"""JSON with a name, a version and a check sum, so that what was cut short, edited or meant for others is told."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NoReturn

from aranyani_tf.errors import DamagedFileError, TableError
from aranyani_tf.files import whole_file

FORMAT = "aranyani_tf table form"
VERSION = 1  # raised when an older program could not read what is written now


def sealed(contents: dict[str, Any]) -> dict[str, Any]:
    """The document around contents of lists, dicts, texts and finite numbers."""
    return {"format": FORMAT, "version": VERSION, "sha256": check_sum(contents), "form": contents}


def check_sum(contents: dict[str, Any]) -> str:
    """sha256 of the contents, whatever the order of their keys; a float counts to its last bit."""
    try:
        text = json.dumps([VERSION, contents], sort_keys=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:  # no table leads to such a form: its cells are finite
        raise TableError(f"a form with a number that is not finite cannot be written: {error}") from error
    return hashlib.sha256(text.encode()).hexdigest()


def opened(document: Any, source: str = "this document") -> dict[str, Any]:
    """The contents of what `sealed` gave, or of its text; raises unless they are what was written."""
    if isinstance(document, str):
        document = parsed(document, source)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TableError(f"{source} is no form of a table; write one with stream.form.save(path)")
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise TableError(f"{source} has version {version} of the format, and this aranyani_tf reads up to {VERSION}; "
                         "update it, or write the form again with this one")
    contents = document.get("form")
    if version != VERSION or not isinstance(contents, dict) or check_sum(contents) != document.get("sha256"):
        raise damaged(source, "its contents do not have its check sum")
    return contents


def parsed(text: str, source: str) -> Any:
    def refuse(word: str) -> NoReturn:
        raise ValueError(f"it has {word} where a number belongs")

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        if FORMAT in text:
            raise damaged(source, str(error)) from error
        raise TableError(f"{source} is no form of a table, not even JSON: {error}") from error


def damaged(source: str, reason: str) -> DamagedFileError:
    return DamagedFileError(f"{source} is damaged or was edited: {reason}. Use another copy, or make the form again "
                            "from the table with the same options: stream.form.save(path)")


def write(contents: dict[str, Any], path: str | os.PathLike) -> None:
    """Writes the document; the file is whole or not there."""
    document = json.dumps(sealed(contents), indent=1)
    with whole_file(path, "w") as file:
        file.write(document + "\n")


def read(path: str | os.PathLike) -> dict[str, Any]:
    """The contents that `write` was given."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TableError(f"{path} is no form of a table: it is no text in UTF-8") from error
    return opened(text, str(path))
