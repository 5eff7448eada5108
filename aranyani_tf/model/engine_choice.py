"""Which engine a model learns by: that of `engine/`, or TensorFlow's step."""

from typing import Any

from aranyani_tf.arguments import require_choice
from aranyani_tf.engine.coverage import reason_against, reason_against_optimizer
from aranyani_tf.errors import ArgumentError
from aranyani_tf.model.fair_model import FairModel

ENGINES = ("auto", "numba", "xla")
# Who defines one of these anew learns in another way, which the engine knows nothing of.
HOOKS = ("make_learner", "make_objective", "make_constraint", "step", "learn_rows", "learn_and_score", "train_step",
         "test_step", "score", "penalty_now")
ANSWERS = ("call", "predict_step")  # and who defines one of these answers in another way


class EngineChoice(FairModel):
    """Base class of `ExportingModel` and `EngineModel`; the forest is `Aranyani`'s."""

    forest: Any
    encoder: Any

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.wanted_engine = "auto"
        self.reason: str | None = "not asked"  # why the engine does not learn, once it is known

    def constraint_class(self) -> Any:
        """The class of the constraint, also before there is one."""
        raise NotImplementedError

    @property
    def engine(self) -> str:
        """Which engine learns: "numba", or "xla" for TensorFlow's step."""
        return "numba" if self.reason_for_xla() is None else "xla"

    def reason_for_xla(self) -> str | None:
        """Why TensorFlow's step learns this model, and not the engine; None if the engine does."""
        if self.reason == "not asked":
            optimizer = self.optimizer if self.compiled else None
            self.reason = self.looked_for_reason(self.wanted_engine, optimizer, self.compiled and self.run_eagerly)
        if self.reason is None and self.compiled:  # whose settings may have been changed since
            return reason_against_optimizer(self.optimizer)
        return self.reason

    def looked_for_reason(self, engine: str, optimizer: Any, run_eagerly: bool) -> str | None:
        if engine == "xla":
            return "engine='xla' was asked for"
        if run_eagerly:
            return "run_eagerly=True is TensorFlow's"
        if (own := self.own_method(*HOOKS, *ANSWERS)) is not None:
            return f"{type(self).__name__} has a {own} of its own"
        return (reason_against(self.forest, self.encoder, self.constraint_class(), self.make_objective())
                or (None if optimizer is None else reason_against_optimizer(optimizer)))

    def choose_engine(self, engine: str, optimizer: Any, run_eagerly: bool) -> None:
        """Called by `compile` before it changes anything."""
        require_choice("engine", engine, ENGINES)
        reason = self.looked_for_reason(engine, optimizer, run_eagerly)
        if engine == "numba" and reason is not None:
            raise ArgumentError(f"engine='numba' cannot learn this model: {reason}. Leave it out, or pass 'xla'")
        self.wanted_engine, self.reason = engine, reason
