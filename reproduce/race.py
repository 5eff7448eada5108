"""What a learner costs beside Aranyani: both take the same pieces of a stream in turn, in one process."""

import time

from aranyani_tf import Aranyani
from aranyani_tf.records import learn_stream

PIECE = 4096  # rows


class Race:
    """A model and its rival, which take turns at every piece of the stream; the model's answers count.

    The first piece is not timed, since both compile then.
    """

    def __init__(self, model, rival):
        self.runners, self.seconds, self.num_pieces = (model, rival), [0.0, 0.0], 0

    @classmethod
    def between(cls, method, settings, member):
        """The method's model and a plain Aranyani with the same settings, λ and seed."""
        own = {name: value for name, value in settings.items() if name not in method.own_settings}
        race = cls(method.model(**settings, **member), Aranyani(**own, **member))
        race.member = member
        return race

    def predict_then_learn(self, x, y, a):
        answers = []
        for index, runner in enumerate(self.runners):
            begin = time.process_time()
            answers.append(runner.predict_then_learn(x, y, a))
            if self.num_pieces:
                self.seconds[index] += time.process_time() - begin
        self.num_pieces += 1
        return answers[0]

    def records(self, stream, checkpoints, on_chunk=None):
        """The model's records, with CPU seconds and bytes of state of both."""
        found = learn_stream(self, stream, checkpoints=checkpoints, chunk_size=PIECE, on_chunk=on_chunk)
        own, rival = self.seconds
        own_bytes, rival_bytes = map(state_bytes, self.runners)
        return found.assign(**self.member, seconds=own, aranyani_seconds=rival, state_bytes=own_bytes,
                            aranyani_state_bytes=rival_bytes)


def state_bytes(model):
    """What a model keeps from one sample to the next: weights, optimizer, running means or stored samples."""
    kept = [*model.learner.variables, *model.optimizer.variables, *model.statistics.weights]
    return sum(variable.numpy().nbytes for variable in kept)
