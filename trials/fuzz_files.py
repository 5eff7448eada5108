"""Files that are not what was written: bytes, texts, JSON documents and archives, changed in their structure."""

import io
import json
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

from trials.fuzz_values import HUGE, NUMBERS, TEXTS

Bytes = Callable[[Random, bytes], bytes]


def cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data))] if data else data


def flipped(random: Random, data: bytes) -> bytes:
    """A few bits turned."""
    changed = bytearray(data or b"\0")
    for _ in range(random.choice((1, 1, 3, 20))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def overwritten(random: Random, data: bytes) -> bytes:
    """A stretch that is something else."""
    begin = random.randrange(len(data) + 1)
    filler = random.choice((b"\0", b"\xff", b'"', b"\r", random.randbytes(1)))
    return data[:begin] + filler * random.choice((1, 8, 500)) + data[begin + random.choice((0, 1, 8, 500)):]


def repeated(random: Random, data: bytes) -> bytes:
    begin = random.randrange(len(data) + 1)
    return data[:begin] + data[random.randrange(len(data) + 1):]


def other_bytes(random: Random, data: bytes) -> bytes:
    return random.choice((b"", b"\0" * 100, random.randbytes(300), b"\x89HDF\r\n\x1a\n", b"PK\x03\x04", b"PAR1PAR1",
                          b"\x93NUMPY\x01\0", b"{}", b"[]", b"null", b"\xef\xbb\xbf", b"\x1f\x8b\x08", data + data))


BYTES: dict[str, Bytes] = {"cut short": cut, "bits turned": flipped, "overwritten": overwritten,
                           "a part twice or gone": repeated, "other bytes": other_bytes}


def in_lines(random: Random, data: bytes) -> bytes:
    """Lines dropped, doubled, exchanged, joined, or ended otherwise."""
    lines = data.split(b"\n")
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    change = random.choice(("drop", "double", "exchange", "join", "endings", "old endings", "empty", "only the first"))
    if change == "drop":
        del lines[place]
    elif change == "double":
        lines.insert(other, lines[place])
    elif change == "exchange":
        lines[place], lines[other] = lines[other], lines[place]
    elif change == "join":
        lines[place : place + 2] = [b"".join(lines[place : place + 2])]
    elif change == "empty":
        lines.insert(place, random.choice((b"", b" ", b"\r", b",,,,", b"\0")))
    elif change == "only the first":
        lines = lines[:1]
    ends = {"endings": (b"\n", b"\r\n", b"\r"), "old endings": (b"\r",)}.get(change, (b"\n",))
    return b"".join(line + random.choice(ends) for line in lines)


def in_another_encoding(random: Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return random.choice((
        lambda: text.encode("utf-16"), lambda: text.encode("utf-32"), lambda: b"\xef\xbb\xbf" + data,
        lambda: text.replace("e", "é").encode("latin-1", "replace"), lambda: text.replace("e", "\ud800").encode(
            "utf-8", "surrogatepass"), lambda: text.encode("utf-7"), lambda: b"\xff\xfe" + data))()


def with_marks(random: Random, data: bytes) -> bytes:
    """Quotes that never close, separators, and what else has a meaning in a text file, where it has none."""
    mark = random.choice((b'"', b'""', b"'", b",", b";", b"\t", b"\0", b"\\", b"{", b"}", b"[", b"NaN", b"#",
                          b'"' + b"x" * 200_000, str(HUGE).encode(), b"1e999", b"\xf0\x9f\x98\x80", b"\x1a", b":"))
    place = random.randrange(len(data) + 1)
    return data[:place] + mark + data[place:]


TEXT: dict[str, Bytes] = BYTES | {"lines": in_lines, "another encoding": in_another_encoding,
                                  "marks where none belong": with_marks}

JSON_VALUES = (None, True, False, "", [], {}, [[]], [None], {"": None}, float("nan"), float("inf"), -1, 0, 1, 0.5, HUGE,
               -HUGE, *(each for each in NUMBERS if isinstance(each, (int, float))), *TEXTS)


def in_json(random: Random, document: Any) -> Any:
    """A document of dicts and lists with something changed somewhere inside."""
    document = json.loads(json.dumps(document))
    places = list(inner_places(document))
    if not places:
        return random.choice(JSON_VALUES)
    for _ in range(random.choice((1, 1, 2))):
        holder, key = random.choice(places)
        if not (key in holder if isinstance(holder, dict) else key < len(holder)):
            continue
        change = random.choice(("value", "value", "drop", "retitle", "double", "nest", "type"))
        if change == "drop":
            del holder[key]
        elif change == "retitle" and isinstance(holder, dict):
            holder[random.choice(TEXTS)] = holder.pop(key)
        elif change == "double" and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif change == "nest":
            deep = holder[key]
            for _ in range(random.choice((1, 3, 100))):
                deep = [deep] if random.random() < 0.5 else {"x": deep}
            holder[key] = deep
        elif change == "type":
            holder[key] = random.choice((str, list, bool, lambda value: {"value": value}))(
                holder[key] if not isinstance(holder[key], (int, float, bool, type(None))) else str(holder[key]))
        else:
            holder[key] = random.choice(JSON_VALUES)
    return document


def inner_places(document: Any) -> Any:
    """(holder, key) of everything inside a document."""
    keys = list(document) if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        yield document, key
        yield from inner_places(document[key])


def with_key_twice(text: str, key: str, value: str) -> str:
    """A JSON text whose outermost object has a key once more."""
    return text.replace("{", f'{{"{key}": {value}, ', 1)


def in_archive(random: Random, data: bytes, other: bytes) -> bytes:
    """A zip archive with members dropped, doubled, renamed, exchanged with another's, or added."""
    members, others = unpacked(data), unpacked(other)
    place = random.randrange(len(members))
    name, content = members[place]
    change = random.choice(("drop", "double", "rename", "exchange", "add", "bomb", "empty", "bits", "lie"))
    if change == "drop":
        del members[place]
    elif change == "double":
        members.append((name, others[random.randrange(len(others))][1]))
    elif change == "rename":
        renamed = random.choice(("../" + name, "/tmp/" + name, name.upper(), "", "a" * 300, "C:\\" + name))
        members[place] = (renamed, content)
    elif change == "exchange":
        members[place] = (name, dict(others).get(name, b""))
    elif change == "add":
        members.append((random.choice(("../../evil.py", "/etc/evil", "assets/x", "x\\..\\y", "lib.so")), b"evil"))
    elif change == "bomb":
        members.append((random.choice((name, "bomb.bin")), b"\0" * 10_000_000))
    elif change == "bits":
        members[place] = (name, random.choice(tuple(BYTES.values()))(random, content))
    else:
        members[place] = (name, b"")
    packed_ = packed(members, random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    return lying(random, packed_) if change == "lie" else packed_


def unpacked(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def packed(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of these, with the same time in all."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members:
            information = zipfile.ZipInfo(name or "x", (2020, 1, 1, 0, 0, 0))
            information.compress_type = compression
            archive.writestr(information, content)
    return file.getvalue()


def lying(random: Random, data: bytes) -> bytes:
    """An archive whose list of members says another size than the member has."""
    place = data.rfind(b"PK\x01\x02")
    size = random.choice((0, 1, 2**31, 2**32 - 2)).to_bytes(4, "little")
    return data[: place + 24] + size + data[place + 28:]
