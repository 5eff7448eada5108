"""JSON with a name, a version and a check sum, so that what was cut short, edited or meant for others is told."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from aranyani_tf.errors import AranyaniError, DamagedFileError
from aranyani_tf.files import whole_file


@dataclass(frozen=True)
class Kind:
    """What documents of one kind are called, and what is told about one that is none.

    >>> point = Kind("point", 1, AranyaniError, "write one with point.save(path)")
    >>> point.opened(point.sealed({"x": 0.1, "y": [2, 3]}))
    {'x': 0.1, 'y': [2, 3]}

    Args:
        name: in messages.
        version: raised when an older program could not read what is written now.
        error: raised for what is no such document at all.
        advice: how to get one.
    """

    name: str
    version: int
    error: type[AranyaniError]
    advice: str

    @property
    def format(self) -> str:
        return f"aranyani_tf {self.name}"

    def sealed(self, contents: dict[str, Any]) -> dict[str, Any]:
        """The document around contents of lists, dicts, texts and finite numbers."""
        return {"format": self.format, "version": self.version, "sha256": self.check_sum(contents),
                "contents": contents}

    def text(self, contents: dict[str, Any]) -> str:
        """The document as a text."""
        return json.dumps(self.sealed(contents), indent=1, default=plain) + "\n"

    def check_sum(self, contents: dict[str, Any]) -> str:
        """sha256 of the contents, whatever the order of their keys; a float counts to its last bit."""
        try:
            text = json.dumps([self.version, contents], sort_keys=True, allow_nan=False, separators=(",", ":"),
                              default=plain)
        except (ValueError, RecursionError) as error:
            raise self.error(f"a {self.name} with a number that is not finite, or lists without end, cannot be "
                             f"written: {error}") from error
        return hashlib.sha256(text.encode()).hexdigest()

    def opened(self, document: Any, source: str = "this document") -> dict[str, Any]:
        """The contents of what `sealed` gave, or of its text; raises unless they are what was written."""
        if isinstance(document, str):
            document = self.parsed(document, source)
        if not isinstance(document, dict) or document.get("format") != self.format:
            raise self.error(f"{source} is no {self.name}; {self.advice}")
        version = document.get("version")
        if isinstance(version, int) and version > self.version:
            raise self.error(f"{source} has version {version} of the format, and this aranyani_tf reads up to "
                             f"{self.version}; update it, or write the {self.name} again with this one")
        contents = document.get("contents")
        if version != self.version or not isinstance(contents, dict) or (
                self.check_sum(contents) != document.get("sha256")):
            raise self.damaged(source, "its contents do not have its check sum")
        return contents

    def parsed(self, text: str, source: str) -> Any:
        def refuse(word: str) -> NoReturn:
            raise ValueError(f"it has {word} where a number belongs")

        try:
            return json.loads(text, parse_constant=refuse)
        except (ValueError, RecursionError) as error:
            if self.format in text:
                raise self.damaged(source, str(error)) from error
            raise self.error(f"{source} is no {self.name}, not even JSON: {error}") from error

    def damaged(self, source: str, reason: str) -> DamagedFileError:
        return DamagedFileError(f"{source} is damaged or was edited: {reason}. Use another copy, or {self.advice}")

    def write(self, contents: dict[str, Any], path: str | os.PathLike) -> None:
        """Writes the document; the file is whole or not there."""
        text = self.text(contents)
        with whole_file(path, "w") as file:
            file.write(text)

    def read(self, path: str | os.PathLike) -> dict[str, Any]:
        """The contents that `write` was given."""
        content = Path(path).read_bytes()
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            if self.format.encode() in content:
                raise self.damaged(str(path), "it is no text in UTF-8") from error
            raise self.error(f"{path} is no {self.name}: it is no text in UTF-8") from error
        return self.opened(text, str(path))


def plain(number: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return number.item()
