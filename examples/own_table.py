"""A table of your own: from a CSV file to a model, further rows of it, and both kept for later.

    python examples/own_table.py
"""

import tempfile
from pathlib import Path

import keras
import numpy as np
import pandas as pd

import aranyani_tf as ar


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        applications(6000, seed=0).to_csv(folder / "spring.csv", index=False)
        applications(1000, seed=1).to_csv(folder / "summer.csv", index=False)

        # 1. The file becomes a stream. Numbers are scaled, categories become 0/1 features; the report tells which.
        spring = ar.Stream.from_csv(folder / "spring.csv", label="hired", group="sex", drop_group=True)
        print(spring.report, "\n")

        # 2. A model that learns from it, row by row in the file's order, and knows the table.
        model = ar.Aranyani(num_labels=spring.num_labels, num_groups=spring.num_groups, fairness_weight=0.3,
                            penalty=ar.Huber(linear_slope=1.0), seed=0)
        hiring = ar.TabularModel(model, spring.form)
        hiring.fit(spring, verbose=0)
        tell("spring", hiring)

        # 3. More rows of the same table, with the scales and codes of the first ones; the model goes on.
        hiring.fit(folder / "summer.csv", verbose=0)
        tell("spring and summer", hiring)

        # 4. One file holds everything: the model, its state, and how a row of the table becomes features.
        hiring.save(folder / "hiring.keras")

        # 5. Some other day: an applicant of whom neither label nor group is known.
        hiring = keras.saving.load_model(folder / "hiring.keras")
        applicant = {"age": 41, "experience": 12.0, "field": "teaching"}
        print(f"a teacher of 41: hired with probability {hiring.predict_proba(applicant)['yes']:.2f}")

        # 6. A service, row by row in microseconds: it learns when the label and the group are known.
        with hiring.live() as live:
            answer = live.predict(applicant)
            live.learn(applicant, label="yes", group="f")
        print(f"answered {answer!r}, then learned: {hiring.so_far()['rows']:,} rows")


def tell(name, model):
    seen = model.so_far()
    print(f"{name}: {seen['rows']:,} rows, accuracy {seen['accuracy']:.3f}, gap {seen['demographic_parity']:.3f}")


def applications(num_rows, seed):
    """Made-up applications: engineers are hired more often, and most of them are men."""
    random = np.random.default_rng(seed)
    sex = random.choice(["f", "m"], num_rows, p=[0.4, 0.6])
    field = np.where(random.random(num_rows) < np.where(sex == "m", 0.8, 0.25), "engineering", "teaching")
    experience = random.gamma(2, 4, num_rows).round(1)  # years
    score = 0.2 * (experience - 8) + np.where(field == "engineering", 1.2, -1.2) + random.normal(size=num_rows)
    return pd.DataFrame({"age": random.integers(20, 65, num_rows), "experience": experience, "field": field, "sex": sex,
                         "hired": np.where(score > 0, "yes", "no")})


if __name__ == "__main__":
    main()
