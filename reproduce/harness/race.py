"""What a learner costs beside Aranyani: both take the same pieces of a stream in turn, in one process."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf import Aranyani, Stream
from aranyani_tf.evaluation.learn_stream import learn_stream
from harness.registry import Method

PIECE = 4096  # rows


class Race:
    """A model and its rival, which take turns at every piece of the stream; the model's answers count."""

    def __init__(self, model: Aranyani, rival: Aranyani):
        self.runners, self.seconds = (model, rival), [0.0, 0.0]

    @classmethod
    def between(cls, method: Method, settings: dict[str, Any], member: dict[str, Any]) -> "Race":
        """The method's model and a plain Aranyani with the same settings, λ and seed."""
        own = {name: value for name, value in settings.items() if name not in method.own_settings}
        race = cls(method.model(**settings, **member), Aranyani(**own, **member))
        race.member = member
        return race

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        answers = []
        for index, runner in enumerate(self.runners):
            begin = time.process_time()
            answers.append(runner.predict_then_learn(x, y, a))
            self.seconds[index] += time.process_time() - begin
        return answers[0]

    def records(self, stream: Stream, checkpoints: list[int] | None, on_chunk: Callable | None = None) -> pd.DataFrame:
        """The model's records, with CPU seconds and bytes of state of both."""
        for runner in self.runners:
            compile_on(runner, stream[:PIECE])
        found = learn_stream(self, stream, checkpoints=checkpoints, chunk_size=PIECE, on_chunk=on_chunk)
        own, rival = self.seconds
        own_bytes, rival_bytes = map(state_bytes, self.runners)
        return found.assign(**self.member, seconds=own, aranyani_seconds=rival, state_bytes=own_bytes,
                            aranyani_state_bytes=rival_bytes)


def compile_on(model: Aranyani, rows: Stream) -> None:
    """Learns from rows so that everything is compiled, and forgets them again."""
    model.compile()
    model(rows.features[:1])  # builds it
    variables = [*model.weights, *model.optimizer.variables]
    before = [variable.numpy() for variable in variables]
    model.predict_then_learn(rows.features, rows.labels, rows.groups)
    for variable, value in zip(variables, before, strict=True):
        variable.assign(value)


def state_bytes(model: Aranyani) -> int:
    """What a model keeps from one sample to the next: weights, optimizer, running means or stored samples."""
    kept = [*model.learner.variables, *model.optimizer.variables, *model.statistics.weights]
    return sum(variable.numpy().nbytes for variable in kept)
