"""Curves to Weights & Biases by W&B's own callback for Keras; offline, so that no account is needed.

    python examples/wandb_logging.py
"""

import tempfile
from pathlib import Path

import wandb
from wandb.integration.keras import WandbMetricsLogger

import aranyani_tf as ar


def main():
    stream = ar.datasets.load("synthetic", num_rows=8000, seed=0)
    model = ar.Aranyani(fairness_weight=0.1, penalty=ar.Huber(linear_slope=1.0), seed=0)

    # A folder that vanishes, for the example. Without `dir` it is ./wandb, and without `mode` it goes to your account.
    with tempfile.TemporaryDirectory() as folder:
        settings = wandb.Settings(silent=True)
        with wandb.init(project="fair", mode="offline", dir=folder, settings=settings,
                        config={"fairness_weight": model.fairness_weight, "seed": model.seed}) as run:
            # A batch is a chunk of the stream here: one point of every curve each thousand rows.
            model.fit(stream.chunks(1000), callbacks=[WandbMetricsLogger(log_freq="batch")], verbose=0)
            curves = sorted(name for name in dict(run.summary) if name.startswith("batch/"))
        print("logged:", ", ".join(name.removeprefix("batch/") for name in curves))
        (log,) = Path(folder).glob("wandb/offline-run-*/*.wandb")
        print(f"`wandb sync` would upload {log.parent.name.split('-')[0]} run {log.stem.removeprefix('run-')}, "
              f"{log.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
