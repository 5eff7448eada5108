"""A Keras model that threads can share, and whose files are whole.

Two locks. `turn` is held by whoever learns or evaluates, for as long as that takes. `state` is held only while
a chunk moves the variables, while they are read to be saved, and while the model is built. So `model.save` works
in the middle of `fit`, between two chunks, and nothing in the file is older than the rest
(`keras.saving.save_model` knows nothing of this). Predictions take neither once the model is built.
"""

import functools
import threading
from pathlib import Path

import keras
import numpy as np

from aranyani_tf.errors import DamagedFileError, RowError
from aranyani_tf.files import whole_path
from aranyani_tf.streams.row_rules import as_features, is_bad_feature, require_width, told_feature


def in_turn(method):
    """Lets one thread at a time into the methods that are marked so."""
    @functools.wraps(method)
    def wait_then_run(self, *arguments, **kwargs):
        with self.turn:
            self.require_one_moment()
            return method(self, *arguments, **kwargs)
    return wait_then_run


class SharedModel(keras.Model):
    """Base class of `OnlineModel`; a subclass gives `further_state` and takes it back."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.turn, self.state = threading.RLock(), threading.RLock()
        self.seal = None  # what the file said that was loaded, until it was compared with what came out

    def __call__(self, *arguments, **kwargs):
        if self.built:
            return super().__call__(*arguments, **kwargs)
        with self.state:  # threads whose first calls come together must not all build
            return super().__call__(*arguments, **kwargs)

    def build_for(self, num_features):
        if not self.built:  # by a call, since Keras exports only what was called
            self(np.zeros((1, num_features), self.compute_dtype))

    def make_sure_it_is_compiled(self):
        with self.state:  # a second compilation would throw away what the first one's optimizer has learned
            if not self.compiled:
                self.compile()

    def build_from_config(self, config):
        self.build_for(config["input_shape"][-1])

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None, *, on_bad_rows=None):
        """Probabilities (row, label), or values (row, 1) for regression; the group is not needed.

        Args:
            x: features (row, feature), a `Stream`, {"features": x}, or a dataset of batches.
            on_bad_rows: "raise"; or "skip", which says NaN about a row that cannot be used. None is the model's
                own setting. Rows of a dataset are not looked at.
            others: those of Keras's `predict`.
        """
        features = getattr(x, "features", x["features"] if isinstance(x, dict) and "features" in x else x)
        bad = np.zeros(0, bool)
        if not isinstance(x, dict) and hasattr(x, "element_spec"):  # a tf.data.Dataset
            features = x
        else:
            features, bad = self.checked_features(features, on_bad_rows)
        self.require_one_moment()
        self.make_sure_it_is_compiled()
        arguments = {"batch_size": batch_size, "verbose": verbose, "steps": steps, "callbacks": callbacks}
        if self.built and self.predict_function is not None:
            answers = super().predict(features, **arguments)
        else:
            with self.state:
                answers = super().predict(features, **arguments)
        if bad.any():
            answers[bad] = np.nan
        return answers

    def checked_features(self, features, on_bad_rows=None):
        """Features as the model computes, and a mask of the rows that it cannot use; or a clear error."""
        features = as_features(features)
        if not len(features):
            raise RowError("there are no rows to predict")
        if self.built:
            require_width(features.shape, self.num_features)
        with np.errstate(over="ignore"):
            features = features.astype(self.compute_dtype, copy=False)
        bad = is_bad_feature(features)
        if bad.any():
            row = int(np.argmax(bad))
            if (on_bad_rows or self.on_bad_rows) != "skip":
                raise RowError(f"row {row:,}: {told_feature(features[row])}. Mend the row, or pass on_bad_rows='skip'")
            features = np.where(bad[:, None], 0, features)
        return features, bad

    def save(self, filepath, overwrite=True, zipped=None, **kwargs):
        """As Keras's, between two chunks of whoever learns, and whole: a kill leaves the file that was there."""
        self.require_one_moment()
        save = super().save
        with self.state:
            plain = is_local(filepath) and zipped is not False
            if not plain or (not overwrite and Path(filepath).exists()):  # Keras asks
                return save(filepath, overwrite=overwrite, zipped=zipped, **kwargs)
            with whole_path(filepath) as part:
                save(part, zipped=zipped, **kwargs)

    def save_weights(self, filepath, overwrite=True, **kwargs):
        """As Keras's, in the same way as `save`."""
        self.require_one_moment()
        save = super().save_weights
        with self.state:
            if kwargs or not is_local(filepath) or (not overwrite and Path(filepath).exists()):
                return save(filepath, overwrite=overwrite, **kwargs)
            with whole_path(filepath) as part:
                save(part)

    def load_weights(self, filepath, **kwargs):
        with self.state:
            super().load_weights(filepath, **kwargs)
            self.require_one_moment()

    def set_weights(self, weights):
        with self.state:
            self.seal = None
            super().set_weights(weights)

    def export(self, *arguments, **kwargs):
        with self.state:
            self.require_one_moment()
            return super().export(*arguments, **kwargs)

    def save_own_variables(self, store):
        super().save_own_variables(store)
        if self.built:
            for name, value in (self.further_state() | prefixed("seal_", self.sealed())).items():
                store[name] = np.asarray(value)

    def load_own_variables(self, store):
        names = list(store.keys())
        super().load_own_variables({name: store[name] for name in names if name.isdigit()})
        values = {name: np.asarray(store[name]) for name in names if not name.isdigit()}
        self.seal = {name: value for name, value in values.items() if name.startswith("seal_")} or None
        self.take_further_state(values)

    def require_one_moment(self):
        """Raises if a file was loaded whose parts are of two moments; asked at the first use after loading."""
        seal = self.seal
        for name, value in prefixed("seal_", self.sealed(as_loaded=True)).items() if seal and self.built else ():
            if name in seal and not np.array_equal(seal[name], value):
                raise DamagedFileError(
                    f"the file that was loaded is damaged: its parts are of two moments ({name.removeprefix('seal_')} "
                    f"was {seal[name]} when it was saved, and is {np.asarray(value)}). Load another copy")
        self.seal = None


def is_local(path):
    """Whether it is a path of this machine, and no address such as gs://bucket/model.keras, nor a file object."""
    return isinstance(path, (str, Path)) and "://" not in str(path)


def prefixed(prefix, values):
    return {prefix + name: value for name, value in values.items()}
