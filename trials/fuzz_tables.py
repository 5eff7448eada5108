"""Tables with columns and cells that do not belong there: data frames, dicts, CSV and Parquet files."""

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.streams.table_options import TableOptions
from trials.fuzz_cases import Case, Surface, state_of
from trials.fuzz_files import BYTES, TEXT
from trials.fuzz_values import ANYTHING, odd, told

NAMES = ("", " ", "age ", "age", 3, None, np.nan, ("a", "b"), "\ud800", "a\0b", True, "hired", "sex", 1.5, "λ", b"age")
COLUMN_TYPES = ("category", "datetime64[s]", "timedelta64[s]", "Int64", "string", "complex128", "object", "bool",
                "float16", "int8", "string[pyarrow]", "int64[pyarrow]", "Sparse[int]", "period[D]")
OPTIONS = tuple(TableOptions.__dataclass_fields__)


def people(num_rows: int = 14, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": random.integers(18, 70, num_rows), "city": random.choice(["Pune", "Lima", "Bonn"], num_rows),
        "sex": np.array(["f", "m"])[np.arange(num_rows) % 2], "score": random.normal(size=num_rows).round(3),
        "since": "2024-05-" + pd.Series(random.integers(10, 29, num_rows).astype(str)),
        "hired": np.array(["no", "yes"])[np.arange(num_rows) // 2 % 2]})


def in_frame(random: Random, frame: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    name = random.choice(tuple(FRAMES))
    return name, FRAMES[name](random, frame.copy())


def with_cell(random: Random, frame: pd.DataFrame) -> pd.DataFrame:
    column = random.choice(list(frame))
    cells = frame[column].astype(object).tolist()
    cells[random.randrange(len(cells))] = odd(random)
    frame[column] = pd.Series(cells, dtype=object)
    return frame


def with_odd_column(random: Random, frame: pd.DataFrame) -> pd.DataFrame:
    frame[random.choice(list(frame))] = pd.Series([odd(random) for _ in range(len(frame))], dtype=object)
    return frame


def retitled(random: Random, frame: pd.DataFrame) -> pd.DataFrame:
    names = list(frame)
    names[random.randrange(len(names))] = random.choice(NAMES)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def of_another_type(random: Random, frame: pd.DataFrame) -> pd.DataFrame:
    column = random.choice(list(frame))
    try:
        frame[column] = frame[column].astype(random.choice(COLUMN_TYPES))
    except (ValueError, TypeError, NotImplementedError):  # pandas cannot: codes of its values then
        frame[column] = pd.factorize(frame[column])[0].astype(random.choice(("int8", "complex64", "uint64", "bool")))
    return frame


def of_one_value(random: Random, frame: pd.DataFrame) -> pd.DataFrame:
    value = random.choice((None, np.nan, "", 0, 1e300, 10**400, "x" * 10_000, np.inf, pd.NaT, pd.NA, "1,5", "NA"))
    frame[random.choice(list(frame))] = pd.Series([value] * len(frame), dtype=object)
    return frame


def of_other_columns(random: Random, frame: pd.DataFrame) -> pd.DataFrame:
    column = random.choice(list(frame))
    return random.choice((
        lambda: frame.drop(columns=column), lambda: pd.concat([frame, frame[[column]]], axis=1),
        lambda: frame[[column]], lambda: frame.iloc[:, :0], lambda: frame.iloc[:, ::-1],
        lambda: pd.concat({"a": frame}, axis=1), lambda: frame.T, lambda: frame.assign(new=1, _x=range(len(frame)))))()


def of_other_rows(random: Random, frame: pd.DataFrame) -> pd.DataFrame:
    return random.choice((
        lambda: frame.iloc[:0], lambda: frame.iloc[:1], lambda: frame.set_index("age"), lambda: pd.concat([frame] * 3),
        lambda: frame.set_index(["age", "city"]), lambda: frame.set_axis(frame["since"]), lambda: frame.iloc[::-1],
        lambda: frame.set_axis([None] * len(frame))))()


FRAMES: dict[str, Callable[[Random, pd.DataFrame], pd.DataFrame]] = {
    "a cell": with_cell, "a column of odd cells": with_odd_column, "a column's name": retitled,
    "a column's type": of_another_type, "a column of one value": of_one_value, "other columns": of_other_columns,
    "other rows": of_other_rows}


class Tabular:
    """A model with its table, and ways in."""

    def __init__(self, preprocessing: str) -> None:
        self.stream = ar.Stream.from_dataframe(people(), label="hired", group="sex", preprocessing=preprocessing)
        self.model = ar.TabularModel(ar.Aranyani(num_trees=1, height=2, seed=0), self.stream.form)
        self.model.predict_then_learn(people())

    def state(self) -> bytes:
        return state_of(self.model.model) + repr(self.model.form.contents()).encode()

    def into(self) -> dict[str, Callable[[pd.DataFrame], Any]]:
        model = self.model
        return {"from_dataframe": lambda frame: ar.Stream.from_dataframe(frame, label="hired", group="sex"),
                "from_dataframe, online": lambda frame: ar.Stream.from_dataframe(
                    frame, label="hired", group="sex", preprocessing="online", on_empty_cells="fill"),
                "stream.more": self.stream.more,
                "form.encode": lambda frame: self.model.form.encode(frame) is None,
                "TabularModel.predict": lambda frame: model.predict(frame) and None,
                "TabularModel.predict_proba": lambda frame: model.predict_proba(frame).to_numpy(),
                "TabularModel.predict_then_learn": model.predict_then_learn,
                "TabularModel.fit": lambda frame: model.fit(frame, verbose=0) and None}

    def rows_into(self) -> dict[str, Callable[[Any], Any]]:
        model = self.model
        return {"TabularModel.predict(dict)": lambda row: model.predict(row) and None,
                "TabularModel.predict_proba(dict)": lambda row: model.predict_proba(row) and None,
                "TabularModel.predict_then_learn(dict)": lambda row: model.predict_then_learn(row),
                "TabularModel.predict_then_learn(dicts)": lambda row: model.predict_then_learn([row, row]),
                "TabularModel.live, learn": self.learn_live, "form.encode_row": model.form.encode_row,
                "form.label_of": lambda row: model.form.label_of(
                    row.get("hired") if isinstance(row, dict) else row) and None}

    def learn_live(self, row: Any) -> Any:
        with self.model.live() as live:
            return live.predict_then_learn(row)[None]


def frames(folder: Path) -> Callable[[Random], Case]:
    ways = [Tabular("one_hot"), Tabular("online")]

    def draw(random: Random) -> Case:
        tabular = random.choice(ways)
        into = tabular.into()
        name = random.choice(tuple(into))
        mutation, frame = in_frame(random, people(14, random.randrange(5)))
        return Case(f"{name}: {mutation}", lambda: into[name](frame), tabular.state,
                    f"{name} of a frame with {list(frame.columns)!r}, {frame.dtypes.tolist()}: {told(frame.values)}")

    return draw


def odd_rows(folder: Path) -> st.SearchStrategy[Case]:
    ways = {way: Tabular(way) for way in ("one_hot", "online", "standardized")}
    row = people(1).iloc[0].to_dict()

    def case(way: str, name: str, changed: dict[Any, Any], dropped: str | None) -> Case:
        given = {key: value for key, value in (row | changed).items() if key != dropped}
        return Case(name, lambda: ways[way].rows_into()[name](given), ways[way].state, f"{name}, {way}: {told(given)}")

    keys = st.one_of(st.sampled_from(sorted(row)), st.text(max_size=3), st.integers(), st.none())
    return st.builds(case, st.sampled_from(sorted(ways)), st.sampled_from(sorted(ways["one_hot"].rows_into())),
                     st.dictionaries(keys, ANYTHING, max_size=3), st.one_of(st.none(), st.sampled_from(sorted(row))))


def options(folder: Path) -> Callable[[Random], Case]:
    frame = people()

    def draw(random: Random) -> Case:
        given: dict[str, Any] = {"label": "hired", "group": "sex", random.choice(OPTIONS): odd(random)}
        changed = next((name for name in given if name not in ("label", "group")), "label or group")
        path = folder / "options.csv"
        frame.to_csv(path, index=False)
        into = random.choice((ar.Stream.from_dataframe, ar.Stream.from_csv))
        source = frame if into == ar.Stream.from_dataframe else path
        return Case(f"{into.__name__}({changed})", lambda: into(source, **given) and None, None,
                    f"{into.__name__} with {told(given)}")

    return draw


def files(folder: Path) -> Callable[[Random], Case]:
    parquet = io.BytesIO()
    people().to_parquet(parquet)
    stream = ar.Stream.from_dataframe(people(), label="hired", group="sex")
    sources = {"csv": people().to_csv(index=False).encode(), "parquet": parquet.getvalue()}

    def draw(random: Random) -> Case:
        kind = random.choice(tuple(sources))
        mutation = random.choice(tuple(TEXT if kind == "csv" else BYTES))
        path = folder / f"people.{kind}"
        path.write_bytes(TEXT[mutation](random, sources[kind]))
        name = random.choice((f"from_{kind}", "stream.more"))
        options_ = {} if random.random() < 0.5 else {"on_empty_cells": random.choice(("skip", "fill"))}
        into = stream.more if name == "stream.more" else lambda path, **given: getattr(ar.Stream, f"from_{kind}")(
            path, label="hired", group="sex", **given)
        return Case(f"{kind}, {mutation}", lambda: into(path, **options_) and None, None,
                    f"{name} of {path.read_bytes()[:300]!r}…, {options_}")

    return draw


SURFACES = (Surface("data frames", 0.1, frames), Surface("rows as dicts, by hypothesis", 0.08, odd_rows),
            Surface("table options", 0.05, options), Surface("table files", 0.06, files))
