"""A Keras model that threads can share, and whose files are whole.

Two locks. `turn` is held by whoever learns or evaluates, for as long as that takes. `state` is held only
while a chunk moves the variables, while they are read to be saved, and while the model is built. So
`model.save` works in the middle of `fit`, between two chunks, and nothing in the file is older than the rest
(`keras.saving.save_model` knows nothing of this). Predictions take neither once the model is built.
"""

import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import keras
import numpy as np
import tensorflow as tf

from aranyani_tf.errors import DamagedFileError
from aranyani_tf.files import is_local, whole_path

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def in_turn(method: Callable[Concatenate[Any, Arguments], Answer]) -> Callable[Concatenate[Any, Arguments], Answer]:
    """Lets one thread at a time into the methods that are marked so."""
    @functools.wraps(method)
    def wait_then_run(self: Any, *arguments: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with self.turn:
            self.require_one_moment()
            return method(self, *arguments, **kwargs)
    return wait_then_run


class SharedModel(keras.Model):
    """Base class of `ChunkModel`. A subclass has `sealed`, `further_state` and `take_further_state`."""

    built: bool  # Keras's own, and so are the next two
    train_function: Callable | None
    test_function: Callable | None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.turn, self.state = threading.RLock(), threading.RLock()
        # What the file said that was loaded, until it was compared with what came out.
        self.seal: dict | None = None

    def own_method(self, *names: str) -> str | None:
        """The first of these methods that is neither this package's nor Keras's."""
        for name in names:
            method = getattr(type(self), name)
            method = method.fget if isinstance(method, property) else method
            if not method.__module__.startswith(("aranyani_tf.model.", "keras.")):
                return name
        return None

    def sealed(self, as_loaded: bool = False) -> dict[str, Any]:
        """What the parts of a file can be compared by, to see whether they are of one moment.

        Args:
            as_loaded: as it came out of a file, if what is there now may have changed since.
        """
        raise NotImplementedError

    def further_state(self) -> dict[str, Any]:
        """What a file keeps beside the weights."""
        raise NotImplementedError

    def take_further_state(self, values: dict[str, np.ndarray]) -> None:
        """What `further_state` gave; a file of an earlier version may have none of it."""
        raise NotImplementedError

    def __call__(self, *arguments: Any, **kwargs: Any) -> Any:
        with tf.init_scope():  # the call may be part of a program
            self.settle()
        if self.built:
            return super().__call__(*arguments, **kwargs)
        with self.state:  # threads whose first calls come together must not all build
            return super().__call__(*arguments, **kwargs)

    def settle(self) -> None:
        """Called before anything is read; a subclass may have state elsewhere that is to be written first."""

    def settled(self) -> AbstractContextManager[None]:
        """The same for as long as it takes. Whoever takes the lock `state` besides takes it inside."""
        return nullcontext()

    def require_own_state(self) -> None:
        """Called before anything is changed; a subclass may raise if its state is in somebody's hands."""

    def get_weights(self) -> list:
        self.settle()
        return super().get_weights()

    def __reduce__(self) -> Any:
        """For pickle and copy, which go around `save`."""
        with self.settled(), self.state:
            return super().__reduce__()

    def build_for(self, num_features: int) -> None:
        if not self.built:  # by a call, since Keras exports only what was called
            self(np.zeros((1, num_features), self.compute_dtype))

    def make_sure_it_is_compiled(self) -> None:
        with self.state:  # a second compilation would throw away what the first one's optimizer has learned
            if not self.compiled:
                self.compile()

    def build_from_config(self, config: dict[str, Any]) -> None:
        self.build_for(config["input_shape"][-1])

    def save(self, filepath: str | Path, overwrite: bool = True, zipped: bool | None = None,
             **kwargs: Any) -> None:
        """As Keras's, between two chunks of whoever learns, and whole: a kill leaves the file that was there."""
        self.require_one_moment()
        save = super().save
        with self.settled(), self.state:
            plain = is_local(filepath) and zipped is not False
            if not plain or (not overwrite and Path(filepath).exists()):  # Keras asks
                return save(filepath, overwrite=overwrite, zipped=zipped, **kwargs)
            with whole_path(filepath) as part:
                save(part, zipped=zipped, **kwargs)

    def save_weights(self, filepath: str | Path, overwrite: bool = True, **kwargs: Any) -> None:
        """As Keras's, in the same way as `save`."""
        self.require_one_moment()
        save = super().save_weights
        with self.settled(), self.state:
            if kwargs or not is_local(filepath) or (not overwrite and Path(filepath).exists()):
                return save(filepath, overwrite=overwrite, **kwargs)
            with whole_path(filepath) as part:
                save(part)

    def load_weights(self, filepath: str | Path, **kwargs: Any) -> None:
        self.require_own_state()
        with self.state:
            super().load_weights(filepath, **kwargs)
            self.require_one_moment()

    def set_weights(self, weights: list) -> None:
        self.require_own_state()
        with self.state:
            self.seal = None
            super().set_weights(weights)

    def save_own_variables(self, store: Any) -> None:
        super().save_own_variables(store)
        if self.built:
            for name, value in (self.further_state() | prefixed("seal_", self.sealed())).items():
                store[name] = np.asarray(value)

    def load_own_variables(self, store: Any) -> None:
        names = list(store.keys())
        super().load_own_variables({name: store[name] for name in names if name.isdigit()})
        values = {name: np.asarray(store[name]) for name in names if not name.isdigit()}
        self.seal = {name: value for name, value in values.items() if name.startswith("seal_")} or None
        self.take_further_state(values)

    def require_whole(self) -> None:
        """Raises unless all that was loaded fits together; a subclass may have further parts."""
        self.require_one_moment()

    def require_one_moment(self) -> None:
        """Raises if a file was loaded whose parts are of two moments; asked at the first use after loading."""
        seal = self.seal or {}
        found = prefixed("seal_", self.sealed(as_loaded=True)) if seal and self.built else {}
        for name, value in found.items():
            if name in seal and not np.array_equal(seal[name], value):
                raise DamagedFileError(
                    f"the file that was loaded is damaged: its parts are of two moments ({name.removeprefix('seal_')} "
                    f"was {seal[name]} when it was saved, and is {np.asarray(value)}). Load another copy")
        self.seal = None


def prefixed(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    return {prefix + name: value for name, value in values.items()}
