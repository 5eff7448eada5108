"""Adult split by work class or country: sites that become one model now and then, beside one central stream."""

import numpy as np

import aranyani_tf as ar
from aranyani_tf.datasets.adult import adult_table
from aranyani_tf.scale import learn_apart
from aranyani_tf.scale.executor import RayExecutor

SPLITS = {"work class": "workclass", "country": "native-country"}
PERIODS, SEEDS, WEIGHT = (100, 1000, 5000), 5, 0.1


def averaging(counts, work, seed, quick):
    """Yields all records; each run is a call of its own on two workers."""
    length = 4000 if quick else len(adult_table())
    seeds, periods = range(seed, seed + (1 if quick else SEEDS)), PERIODS[1:2] if quick else PERIODS
    runs = [(split, every, each) for split in SPLITS for every in (None, *periods, length) for each in seeds]
    with RayExecutor("local", counts[0]) as pool:
        found = list(pool.map(one_run, *zip(*runs, strict=True), [length] * len(runs)))
    yield [{"part": "one model", "split": split, "num_sites": num_sites, "every": every, "seed": own,
            "measure": name, "value": value}
           for (split, every, own), (num_sites, measured) in zip(runs, found, strict=True)
           for name, value in measured.items()]


def one_run(split, every, seed, length):
    """How many sites there are, and how they did over all rows, which come in the file's own order.

    Without `every` all rows go to one central model.
    """
    stream, sites = ar.datasets.load("adult")[:length], adult_table()[SPLITS[split]].to_numpy(str)[:length]
    model = ar.Aranyani(fairness_weight=WEIGHT, penalty=ar.Huber(linear_slope=1.0), seed=seed)
    if every is None:
        said = model.predict_then_learn(stream.features, stream.labels, stream.groups)
    else:
        said = learn_apart(model, stream, sites, every=every)
    names, counts = np.unique(sites, return_counts=True)
    smaller = sites != names[counts.argmax()]
    return len(names), measured(stream, said) | {
        "accuracy_of_smaller_sites": measured(stream[smaller], said[smaller])["accuracy"]}


def measured(stream, said):
    """Accuracy and the gap between the groups of what was said before each row was learned."""
    decided = said.argmax(axis=1)
    rates = [decided[stream.groups == group].mean() for group in (0, 1)]
    late = slice(len(stream) // 2, None)
    return {"accuracy": float((decided == stream.labels).mean()), "demographic_parity": float(abs(np.diff(rates)[0])),
            "late_accuracy": float((decided[late] == stream.labels[late]).mean())}
