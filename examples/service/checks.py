"""What a request may bring. Whatever else it brings is refused with a sentence that names the field."""

import json

LARGEST = 100_000  # bytes of a request
UNUSABLE = (ValueError, OverflowError)  # the latter by numbers of some hundred digits
CELLS = (str, int, float, bool, type(None))


class Refused(Exception):
    """A request that cannot be answered.

    Args:
        status: of HTTP.
        field: of the request, or a column of its row; None if it is about all of it.
    """

    def __init__(self, status, field, sentence):
        super().__init__(sentence)
        self.status, self.answer = status, {"error": sentence, "field": field}


async def text_of(stream):
    """All bytes of a request, as they come; of one that is too large no more are read than that takes to see."""
    found = bytearray()
    async for chunk in stream:
        found += chunk
        if len(found) > LARGEST:
            raise Refused(413, None, f"the request has more than {LARGEST:,} bytes, which is the most that is taken")
    return bytes(found)


def body_of(text, known):
    """A request as a dict with no fields but known ones."""
    try:
        text = text.decode("utf-8")
        body = json.loads(text, parse_constant=no_number)
        if "\\u" in text:  # half a character, such as \ud800, could not be repeated in an answer
            json.dumps(body, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise Refused(400, None, "the request must be JSON in UTF-8 (without NaN and Infinity)") from None
    if not isinstance(body, dict):
        raise Refused(400, None, f"the request must be a JSON object, got {type(body).__name__}")
    for name in body:
        if name not in known:
            raise Refused(422, name, f"there is no field {name!r}; known are {', '.join(known)}")
    return body


def no_number(text):
    raise ValueError(text)


def key_of(body):
    """The id, as a text."""
    key = body.get("id")
    if isinstance(key, bool) or not isinstance(key, (str, int)) or not 0 < len(str(key)) <= 200:
        raise Refused(422, "id", "id must be a text of 1 to 200 characters, or a whole number")
    return str(key)


def row_of(body, form):
    """The columns of the row that are features, all of which the model can take."""
    row = body.get("row")
    if not isinstance(row, dict):
        raise Refused(422, "row", "row must be an object from columns to cells, such as {\"age\": 39, …}")
    for name in form.encoder.columns:
        if name not in row:
            raise Refused(422, name, f"row has no column {name!r}; an empty cell is null")
        if not isinstance(row[name], CELLS):
            raise Refused(422, name, f"column {name!r} of row must be a text, a number, true, false or null")
    row = {name: row[name] for name in form.encoder.columns}
    try:
        form.encode_row(row)
    except UNUSABLE as error:
        raise Refused(422, "row", f"row: {error}") from error
    return row


def known_value(body, field, form):
    """A label or group, which the model has a code for, or None if it is not told."""
    value = body.get(field)
    if not isinstance(value, CELLS):
        raise Refused(422, field, f"{field} must be a text, a number, true, false or null")
    try:
        code = form.peek(None, value)[1] if field == "group" else form.peek(value, None)[0]
    except UNUSABLE as error:
        raise Refused(422, field, f"{field}: {error}") from error
    return None if code == -1 else value
