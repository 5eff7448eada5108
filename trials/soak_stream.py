"""What the clients of a soak send: people whose groups and label rates drift and swap, and requests that are wrong."""

import json

import numpy as np

# Along the soak, from 0 to 1: the share of men, and the shares of men and of women who earn much. As in Adult, then
# more women and higher rates; at 0.4 the rates swap; back again; in the last fifth nearly everybody is a man.
KNOTS = np.array([[0.0, 0.67, 0.31, 0.11], [0.2, 0.67, 0.31, 0.11], [0.4, 0.40, 0.50, 0.20], [0.4, 0.40, 0.15, 0.40],
                  [0.6, 0.40, 0.15, 0.40], [0.8, 0.67, 0.31, 0.11], [0.8, 0.95, 0.31, 0.11], [1.0, 0.95, 0.31, 0.11]])
RICH = ">50K"


class People:
    """Rows of a table in an order that drifts: of a group and label that the moment makes likely, one at random.

    Args:
        rows: dicts with `income` and `gender`, which are the feedback.
    """

    def __init__(self, rows):
        self.cells = {}
        for row in rows:
            group, label = row.pop("gender"), row.pop("income")
            self.cells.setdefault((group, label == RICH), []).append((row, label))

    def draw(self, chance, position):
        """(row, label, group) at this position of the soak, by a `random.Random`."""
        men, *rates = (float(np.interp(position, *self.jumps(column))) for column in (1, 2, 3))
        group = "Male" if chance.random() < men else "Female"
        is_rich = chance.random() < rates[group == "Female"]
        row, label = chance.choice(self.cells[group, is_rich])
        return dict(row), label, group

    @staticmethod
    def jumps(column):
        """Positions and values for `interp`; of two knots at one position the second counts."""
        return KNOTS[:, 0] + 1e-9 * np.arange(len(KNOTS)), KNOTS[:, column]


def odd(row, chance):
    """A row as it should not be, but that can be taken: a category that nobody knows, or a number far off."""
    if chance.random() < 0.5:
        row["occupation"] = f"occupation {chance.randrange(1_000_000)}"
    else:
        row["capital-gain"] = 10.0 ** chance.randint(6, 17)
    return row


def bad_request(chance, row):
    """(method, path, body, statuses that are right): something that no service should take, or break by."""
    def of(path, body, *statuses):
        return "POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), statuses

    key = f"bad-{chance.randrange(10**9)}"
    whole = json.dumps({"id": key, "row": row}).encode()
    kinds = {
        "broken": lambda: of("/predict", whole[: chance.randrange(1, len(whole))], 400),
        "bytes": lambda: of("/predict", bytes(chance.randrange(256) for _ in range(50)), 400),
        "nan": lambda: of("/predict", {"id": key, "row": row | {"age": float("nan")}}, 400),
        "infinite": lambda: of("/predict", whole.replace(b'"age": ', b'"age": 1e999, "a": '), 422),
        "list": lambda: of("/feedback", [], 400),
        "deep": lambda: of("/predict", b"[" * 50_000, 400),
        "long": lambda: of("/predict", b" " * 200_000, 413),
        "no row": lambda: of("/predict", {"id": key}, 422),
        "field": lambda: of("/predict", {"id": key, "row": row, "rows": []}, 422),
        "column": lambda: of("/predict", {"id": key, "row": {n: v for n, v in row.items() if n != "education"}}, 422),
        "text": lambda: of("/predict", {"id": key, "row": row | {"age": "old"}}, 422),
        "cell": lambda: of("/predict", {"id": key, "row": row | {"race": ["White"]}}, 422),
        "empty": lambda: of("/predict", {"id": key, "row": row | {"hours-per-week": None}}, 422),
        "huge": lambda: of("/predict", {"id": key, "row": row | {"capital-gain": 1e30}}, 422),
        "digits": lambda: of("/predict", {"id": key, "row": row | {"age": 10**400}}, 422),
        "id": lambda: of("/predict", {"id": chance.choice([True, "", "x" * 201, 1.5, {}]), "row": row}, 422),
        "surrogate": lambda: of("/predict", {"id": f"{key}\ud800", "row": row}, 400),
        "stranger": lambda: of("/feedback", {"id": key, "label": RICH, "group": "Male"}, 404),
        "label": lambda: of("/feedback", {"id": key, "label": "rich", "group": "Male"}, 422),
        "group": lambda: of("/feedback", {"id": key, "label": RICH, "group": "Other"}, 422),
        "nothing": lambda: of("/feedback", {"id": key, "label": None}, 422),
        "decision": lambda: of("/feedback", {"id": key, "label": RICH, "row": row, "decision": "maybe"}, 422),
        "method": lambda: ("GET", "/feedback", None, (405,)),
        "path": lambda: of("/nowhere", {}, 404),
    }
    return kinds[chance.choice(list(kinds))]()
