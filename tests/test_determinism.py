"""The same seed gives the same bytes: by one process or by two, in other chunks and threads, and after a restart.

What a single model makes of a stream that is cut in other ways is tested in tests/engine/test_same_bits.py.
"""

import json

import numpy as np

import forked
from engine_rows import rows
from harness import experiments, runner

NUM_ROWS = 240


def test_a_figure_by_one_process_and_by_two_has_the_same_bytes(tmp_path, monkeypatch):
    workers = forked.context()
    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda _: workers)
    grid = [experiments.Experiment("synthetic", (0.0, weight), (0, 1), num_trees=1, height=2, rows=300, order="shuffled"
                                   )
            for weight in (0.1, 0.3)]
    found = []
    for processes in (1, 2):
        runner.run_all("small", grid, results=tmp_path / str(processes), processes=processes, progress=False)
        found.append({path.relative_to(tmp_path / str(processes)): path.read_bytes()
                      for path in (tmp_path / str(processes)).rglob("*.csv")})
    assert len(found[0]) == 3 and found[0] == found[1]


LEARN = """
import hashlib, json, sys
import keras, numpy as np, tensorflow as tf
import aranyani_tf as ar
from engine_rows import learned

folder, chunk_size, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tf.config.threading.set_intra_op_parallelism_threads(threads)
stream = ar.Stream(**np.load(f"{folder}/rows.npz"))

def digest(arrays):
    return hashlib.sha256(b"".join(np.asarray(array).tobytes() for array in arrays)).hexdigest()

def target():
    if sys.argv[4] == "goes on":
        model, rest = keras.saving.load_model(f"{folder}/half.keras"), stream[100:]
    else:
        model, rest = ar.Aranyani(num_trees=2, height=3, seed=4, fairness_weight=ar.ParityTarget(0.05)), stream
    model.fit(rest.chunks(chunk_size), verbose=0)
    return digest([*learned(model), model.fairness_weight])

grove = ar.Grove({"num_trees": 2, "height": 3}, fairness_weights=[0.0, 3.0], seeds=[0, 1, 2])
grove.fit(stream, shuffle=True, chunk_size=chunk_size, verbose=0)
members = [digest(learned(grove.model(weight, seed))) for weight in (0.0, 3.0) for seed in (0, 1, 2)]
print("DIGESTS", json.dumps([target(), *members]))
if sys.argv[4] == "saves":
    model = ar.Aranyani(num_trees=2, height=3, seed=4, fairness_weight=ar.ParityTarget(0.05))
    for start in range(100):  # row by row
        model.predict_then_learn(*(array[start : start + 1] for array in (stream.features, stream.labels,
                                                                          stream.groups)))
    model.save(f"{folder}/half.keras")
"""


def test_a_target_and_a_grove_are_the_same_bits_in_other_processes_chunks_and_threads(tmp_path):
    x, y, a = rows(NUM_ROWS, missing=0.1, seed=3)
    np.savez(tmp_path / "rows.npz", features=x, labels=y, groups=a)
    found = []
    for how in (("4096", "1", "saves"), ("7", "2", "goes on")):
        done = forked.python("-c", LEARN, tmp_path, *how)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout.split("DIGESTS")[1].splitlines()[0]))
    assert found[0] == found[1] and len(set(found[0])) == 7
