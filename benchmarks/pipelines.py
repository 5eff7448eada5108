"""Rows per second of River's pipelines with a scaler in front, row by row, in CPU time."""

import time

from river import metrics, preprocessing

import aranyani_tf as ar
from aranyani_tf.river import AranyaniClassifier
from benchmarks.contenders import RIVER
from benchmarks.names import HEIGHT, HOEFFDING, NUM_TREES, PIPELINE
from benchmarks.turns import best_of

ROWS = {14: 20_000, 40: 10_000, 768: 1_000}
WARM_UP = 20  # rows that every learner gets before the clock runs: the forest is built for the first one


def pipelines(num_features, rounds, scale):
    """One record for each classifier behind a `StandardScaler`; each predicts, scores and learns every row."""
    num_rows = max(int(ROWS[num_features] * scale), 300)
    stream = ar.datasets.load("synthetic", num_rows=num_rows + WARM_UP, num_features=num_features)
    dicts = [{f"feature {place}": value for place, value in enumerate(row)} for row in stream.features.tolist()]
    labels = [bool(label) for label in stream.labels]
    rows = list(zip(dicts, labels, ({"group": group} for group in stream.groups.tolist()), strict=True))
    makers = {PIPELINE: lambda: AranyaniClassifier(NUM_TREES, HEIGHT, seed=0), **RIVER}
    best = best_of(rounds, lambda: {
        name: seconds(make(), rows, group=name == PIPELINE) / num_rows for name, make in makers.items()})
    for name, least in best.items():
        yield {"measure": "pipeline", "contender": name, "num_features": num_features, "height": HEIGHT,
               "num_rows": num_rows, "rows_per_second": 1 / least, "ratio_to_hoeffding_tree": best[HOEFFDING] / least}


def seconds(classifier, rows, group):
    """Of all rows but the first few; only ours is told the group."""
    model, score = preprocessing.StandardScaler() | classifier, metrics.Accuracy()
    begin = 0.0
    for number, (x, y, keywords) in enumerate(rows):
        if number == WARM_UP:
            begin = time.process_time()
        score.update(y, model.predict_one(x))
        if group:
            model.learn_one(x, y, **keywords)
        else:
            model.learn_one(x, y)
    return time.process_time() - begin
