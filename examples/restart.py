"""Row by row without a server: a file now and then, and a restart after which nothing is different.

    python examples/restart.py
"""

import tempfile
from pathlib import Path

import keras
import numpy as np

import aranyani_tf as ar

SAVE_EVERY = 100  # rows


def main():
    stream = ar.datasets.load("adult")[:400]
    stopped = 250  # rows after which the service dies; the file has 200 of them

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "service.keras"
        model = ar.Aranyani(fairness_weight=0.1, penalty=ar.Huber(linear_slope=1.0), on_bad_rows="skip", seed=0)
        said = serve(model, stream[:stopped], file)
        print(f"stopped after {len(said)} rows")

        # Weights, optimizer, running means and metrics are in the file, which is whole even after a kill.
        model = keras.saving.load_model(file)
        learned = model.so_far()["rows"]
        print(f"resumed from a file of {learned} rows; the rows after it are sent again")
        again = serve(model, stream[learned:], file)

    # Its answers are those it gave the first time.
    repeated = said[learned:]
    print("the same answers as before:", np.array_equal(repeated, again[: len(repeated)]))
    seen = model.so_far()
    print(f"{seen['rows']} rows: accuracy {seen['accuracy']:.3f}, gap {seen['demographic_parity']:.3f}, "
          f"of late {seen['recent_demographic_parity']:.3f}")


def serve(model, stream, file):
    """Answers each request, learns from its label, and saves every hundred rows; gives the answers (row, label)."""
    answers, before = [], model.so_far()["rows"]
    with model.live() as live:  # holds the state, and takes microseconds a row
        for x, y, a in zip(stream.features, stream.labels, stream.groups, strict=True):
            answers.append(live.predict(x))  # a request: its features
            live.learn(x, y, a)  # when its label and group are known; −1 for what is not
            if (before + len(answers)) % SAVE_EVERY == 0:
                model.save(file)  # with all that the session has learned
    return np.array(answers)


if __name__ == "__main__":
    main()
