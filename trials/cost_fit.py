"""The cost model of measured runs: non-negative least squares on relative errors, and how well others are predicted."""

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from aranyani_tf.command.cost_model import ENGINES, TERMS, CostModel, Job, counts

CLOSE = 0.2
RANGES = ("features", "height", "trees", "groups", "chunk")
DIGITS = 4  # of a coefficient


def jobs_of(table: pd.DataFrame) -> list[Job]:
    texts = ("level", "engine")
    return [Job(**{name: getattr(row, name) if name in texts else int(getattr(row, name)) for name in Job._fields})
            for row in table.itertuples()]


def with_seconds(runs: pd.DataFrame) -> pd.DataFrame:
    """CPU seconds as on a quiet machine: what slowed a run slowed the reference beside it by the same factor."""
    slowed = runs["reference_seconds"] / runs["reference_seconds"].min()
    return runs.assign(seconds=runs["cpu_seconds"] / slowed)


def coefficients(table: pd.DataFrame) -> dict[str, float]:
    """Term → seconds of one, of runs by one engine; each run's relative error counts alike."""
    wanted = table["seconds"].to_numpy()
    shares = np.array([[counts(job)[term] for term in TERMS] for job in jobs_of(table)]) / wanted[:, None]
    scales = np.maximum(shares.max(axis=0), 1e-30)  # counts differ by ten orders of size
    found = nnls(shares / scales, np.ones(len(table)))[0] / scales
    return {term: float(f"{value:.{DIGITS}g}") for term, value in zip(TERMS, found, strict=True)}


def fitted(table: pd.DataFrame, machine: str) -> CostModel:
    """The model of results/cost.csv, with what is told of it."""
    runs, processes = table[table["kind"] != "process"], table[table["kind"] == "process"]
    learned, held_out = (runs[runs["kind"] == kind] for kind in ("fit", "held_out"))
    seconds = {engine: coefficients(learned[learned["engine"] == engine])
               | {"start": round(float(learned.loc[learned["engine"] == engine, "start_seconds"].median()), 2)}
               for engine in ENGINES}
    process = {"seconds": round(float(processes["start_seconds"].min()), 2),
               "megabytes": round(float(processes["megabytes"].min()))}
    model = CostModel(seconds, process, round(float(runs["reference_seconds"].min()), 5), {})
    errors = errors_of(model, held_out).abs()
    ranges = {name: [int(runs[name].min()), int(runs[name].max())] for name in RANGES}
    return model._replace(measured={
        "machine": machine, "held_out": len(held_out), "within_20_percent": int((errors <= CLOSE).sum()),
        "worst": round(float(errors.max()), 3), "ranges": ranges})


def predictions(model: CostModel, table: pd.DataFrame) -> pd.Series:
    return pd.Series([model.fit_seconds(job) for job in jobs_of(table)], index=table.index, dtype=float)


def errors_of(model: CostModel, table: pd.DataFrame) -> pd.Series:
    """Predicted ÷ measured − 1, as the file has it."""
    return (predictions(model, table) / table["seconds"] - 1).round(3)
