"""A small table of people, and the `aranyani` command on it in this process."""

import numpy as np
import pandas as pd

from aranyani_tf.command.main import main

CHOSEN = ["--label", "hired", "--group", "sex", "--trees", "2", "--height", "3", "--quiet"]


def people(num_rows, seed=0):
    random = np.random.default_rng(seed)
    sex = random.choice(["f", "m"], num_rows, p=[0.4, 0.6])
    age = random.integers(18, 70, num_rows)
    city = random.choice(["Pune", "Lima", "Bonn"], num_rows)
    score = random.normal(size=num_rows).round(3)
    hired = (age - 45) / 15 + (city == "Lima") + (sex == "m") + score > 0.8
    return pd.DataFrame({"age": age, "city": city, "sex": sex, "score": score, "hired": np.where(hired, "yes", "no")})


def run(path, out, *further, label="hired", group="sex", target=0.05):
    """`aranyani run`, which must go well."""
    columns = [] if label is None else ["--label", label, "--group", group]
    goal = [] if target is None else ["--parity-target", str(target)]
    status = main(["run", *([] if path is None else [str(path)]), *columns, *goal, "--trees", "2", "--height", "3",
                   "--quiet", "--out", str(out), *map(str, further)])
    assert status == 0


def weights(tabular):
    return [*tabular.model.get_weights(), *(value.numpy() for value in tabular.model.optimizer.variables)]


def assert_same_model(one, other):
    """To the last bit: weights, optimizer, running means, metrics, λ, and the form of the table."""
    for left, right in zip(weights(one), weights(other), strict=True):
        np.testing.assert_array_equal(left, right)
    assert one.so_far() == other.so_far() and one.model.fairness_weight == other.model.fairness_weight
    assert one.form.encoder.contents() == other.form.encoder.contents()
    assert one.model.steering is None or one.model.fairness_weight_record.equals(other.model.fairness_weight_record)
