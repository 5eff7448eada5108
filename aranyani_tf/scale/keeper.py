"""Live models of several sites in one process, each with the number of rows that it has learned.

Rows are numbered by site. Whoever sends some says the number of the first; the keeper learns those that it has not
learned yet, and tells how far it is. One that begins again after a crash is where its checkpoints are, says so, and is
sent the rows after that: each row is learned once, in its order, and the bits are those of a run without a crash.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError, RowError
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.model.live import Live
from aranyani_tf.scale.checkpoints import Checkpoints


class Place(NamedTuple):
    """How far a site is."""

    learned: int  # rows
    saved: int  # of which the latest checkpoint has


class Hot:
    """A site's model in its live session."""

    def __init__(self, model: Aranyani, offset: int) -> None:
        self.model, self.place = model, Place(offset, offset)
        self.live: Live = model.live().__enter__()


class Keeper:
    """The sites of one process; `Sites` has one in each actor.

    Args:
        make: function of a site's name, gives its first model. It has to give the same model every time.
        folder: of the checkpoints.
        save_every: rows of a site after which it is saved.

    >>> import tempfile
    >>> import aranyani_tf as ar
    >>> stream, folder = ar.datasets.load("synthetic", num_rows=300), tempfile.mkdtemp()
    >>> def make(site):
    ...     return ar.Aranyani(num_trees=1, height=2, seed=0)
    >>> keeper = Keeper(make, folder, save_every=100)
    >>> first, rest = ((part.features, part.labels, part.groups) for part in (stream[:150], stream[150:]))
    >>> keeper.learn("Oslo", 0, *first)
    Place(learned=150, saved=150)
    >>> successor = Keeper(make, folder, save_every=100)         # the first one has died
    >>> successor.learn("Oslo", 150, *rest)
    Place(learned=300, saved=300)
    """

    def __init__(self, make: Callable[[str], Aranyani], folder: str | Path, save_every: int) -> None:
        require_whole("save_every", save_every, 1)
        self.make, self.save_every, self.checkpoints = make, save_every, Checkpoints(folder)
        self.hot: dict[str, Hot] = {}

    def of(self, site: str) -> Hot:
        """A site, which is loaded or made when it is first asked for."""
        if site not in self.hot:
            model, offset = self.checkpoints.load(site) or (self.make(site), 0)
            if not isinstance(model, Aranyani):
                raise ArgumentError(f"the function that makes a site's model gave {type(model).__name__} for {site!r}, "
                                    "and not an Aranyani")
            self.hot[site] = Hot(model, offset)
        return self.hot[site]

    def predict(self, site: str, x: Any, learned: int = 0) -> np.ndarray | None:
        """Probabilities of one row or some; None if the site has not learned as many rows yet."""
        hot = self.of(site)
        return None if hot.place.learned < learned else hot.live.predict(x)

    def learn(self, site: str, first: int, x: Any, y: Any, a: Any) -> Place:
        """Learns rows of which the first has this number; gives how far the site is then.

        A keeper that is not that far yet learns nothing, and those that it knows are not learned again. Rows are
        learned whole or not at all: where some are refused, the site is afterwards as its checkpoint has it.
        """
        hot = self.of(site)
        known = hot.place.learned - first
        if known < 0 or known >= len(x):
            return hot.place
        try:
            hot.live.learn(*(np.asarray(column)[known:] for column in (x, y, a)))
            hot.place = hot.place._replace(learned=first + len(x))
            if hot.place.learned - hot.place.saved >= self.save_every:
                self.save(site)
        except BaseException:  # rows that are refused, or a disk that is full
            del self.hot[site]
            raise
        return hot.place

    def place(self, site: str) -> Place:
        return self.of(site).place

    def save(self, site: str, learned: int = 0) -> Place | None:
        """Writes a checkpoint; None, and none is written, if the site has not learned as many rows yet."""
        hot = self.of(site)
        if hot.place.learned < learned:
            return None
        if hot.place.learned > hot.place.saved:
            self.checkpoints.save(site, hot.model, hot.place.learned)
            hot.place = Place(hot.place.learned, hot.place.learned)
        return hot.place


def checked(site: str, x: Any, y: Any, a: Any) -> tuple[np.ndarray, ...]:
    """One row or some as rows, as many of each."""
    features = np.asarray(x)
    single = features.ndim == 1
    batch = tuple(np.asarray(column)[None] if single else np.asarray(column) for column in (features, y, a))
    if features.ndim not in (1, 2) or len({np.shape(column)[:1] for column in batch}) != 1:
        raise RowError(f"rows of the site {site!r} must be (row, feature), with a label and a group each; got shapes "
                       f"{', '.join(str(np.shape(column)) for column in (x, y, a))}")
    return batch
