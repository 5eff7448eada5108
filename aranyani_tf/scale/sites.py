"""Many streams on a cluster: every site or customer has a live model, which survives the machine that it is on."""

import itertools
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np
from filelock import FileLock, Timeout

from aranyani_tf.arguments import require_whole
from aranyani_tf.errors import ArgumentError, DamagedFileError, InUseError
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.scale.checkpoints import Checkpoints, file_name
from aranyani_tf.scale.cluster import cluster, one_thread, own_error, ray_module
from aranyani_tf.scale.keeper import Keeper, Place, checked

Batch = tuple[np.ndarray, ...]  # features, labels, groups


class SiteActor(Keeper):
    """A keeper in a process of its own."""

    def __init__(self, *arguments: Any) -> None:
        one_thread()
        super().__init__(*arguments)


class Sites:
    """Live models by site, shared out among actors; `with Sites(make, folder) as sites:`.

    `learn` returns when the site's actor has learned. An actor that dies, alone or with its machine, is begun again by
    Ray where there is room; it loads the latest checkpoints, and is sent again what came after them, which this object
    keeps until it is saved. So nothing that was acknowledged is lost, and the models are those of a run without the
    death, to the last bit. If the program itself dies, the next `Sites` on the same folder begins with the checkpoints:
    send the rows from number `sites.learned(site)` on. Calls about one site have to come one after the other.

    Args:
        make: function of a site's name, gives its first model, the same every time.
        folder: of the checkpoints, which all machines see. One `Sites` at a time may use it.
        ray: as the address of `cluster`.
        actors: processes, of one core each; one for each core of the cluster if None.
        save_every: rows of a site between two checkpoints.

    ```python
    with Sites(lambda site: ar.Aranyani(fairness_weight=0.1, seed=0), "/shared/sites") as sites:
        probabilities = sites.predict("Oslo", x)
        sites.learn("Oslo", x, y, a)
    ```
    """

    def __init__(self, make: Callable[[str], Aranyani], folder: str | Path, *, ray: str = "auto",
                 actors: int | None = None, save_every: int = 1000) -> None:
        require_whole("save_every", save_every, 1)
        if actors is not None:
            require_whole("actors", actors, 1)
        if not callable(make):
            raise ArgumentError(f"make must be a function of a site's name that gives its model, got {make!r}")
        self.make, self.folder, self.address, self.num_actors = make, Path(folder).resolve(), ray, actors
        self.save_every = save_every
        self.places: dict[str, Place] = {}
        self.unsaved: dict[str, deque[tuple[int, Batch]]] = {}  # (number of the first row, rows) since the checkpoint
        self.actors: list[Any] = []

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as ending:
            lock = FileLock(self.folder / ".lock", timeout=0, thread_local=False)
            try:
                ending.enter_context(lock)
            except Timeout:
                raise InUseError(f"another program keeps its sites in {self.folder}; end it first, or use another "
                                 "folder") from None
            num_cores = ending.enter_context(cluster(self.address, self.num_actors))
            if self.num_actors and self.num_actors > num_cores:
                raise ArgumentError(f"{self.num_actors} actors need as many cores, and the cluster has {num_cores}")
            self.ray = ray_module()
            actor = self.ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(SiteActor)
            self.actors = [actor.remote(self.make, str(self.folder), self.save_every)
                           for _ in range(self.num_actors or num_cores)]
            self.ending = ending.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        """Saves all sites, and ends the actors."""
        try:
            self.save()
        finally:
            for actor in self.actors:
                self.ray.kill(actor)
            self.actors = []
            self.ending.close()

    def actor(self, site: str) -> Any:
        """Where a site is; which that is depends on its name and the number of actors alone."""
        if not self.actors:
            raise InUseError("the sites are not open: use them inside `with Sites(…) as sites:`")
        return self.actors[zlib.crc32(file_name(site).encode()) % len(self.actors)]

    def predict(self, site: str, x: Any) -> np.ndarray:
        """Probabilities of one row, (feature,) → (label,), or of some, (row, feature) → (row, label)."""
        rows, place = np.asarray(x), self.place(site)
        while (said := self.asked(site, "predict", rows, place.learned)) is None:
            self.send_again(site, self.reached(site))
        return said

    def learn(self, site: str, x: Any, y: Any, a: Any) -> int:
        """Learns from one row or some; gives how many the site has learned. Rows that are refused leave no trace."""
        return self.learn_together({site: (x, y, a)})[site]

    def learn_together(self, rows: Mapping[str, tuple[Any, Any, Any]]) -> dict[str, int]:
        """Rows of several sites, learned side by side; those that are refused do not hold up the others'."""
        batches = {site: checked(site, *columns) for site, columns in rows.items()}
        before = {site: self.place(site) for site in batches}
        sent, errors = {}, []
        for site, batch in batches.items():  # kept first: an interruption leaves nobody in doubt
            first = before[site].learned
            self.unsaved.setdefault(site, deque()).append((first, batch))
            self.places[site] = before[site]._replace(learned=first + len(batch[0]))
            sent[site] = self.actor(site).learn.remote(site, first, *batch)
        for site, reference in sent.items():
            try:
                reached = Place(*self.answer(reference))
                while reached.learned < self.places[site].learned:  # its actor has died since
                    reached = self.send_again(site, reached)
                self.note(site, reached)
            except Exception as error:
                self.unsaved[site].pop()
                self.places[site] = before[site]
                errors.append(error)
        if errors:
            raise errors[0]
        return {site: self.places[site].learned for site in rows}

    def send_again(self, site: str, reached: Place) -> Place:
        """Sends the rows that the site's new actor does not have; gives how far that is."""
        if reached.learned >= self.places[site].learned:
            return reached
        waiting = [(first, batch) for first, batch in self.unsaved.get(site, ()) if first >= reached.learned]
        if not waiting or waiting[0][0] > reached.learned:
            raise DamagedFileError(f"the latest checkpoint of the site {site!r} in {self.folder} is gone: it had "
                                   f"{self.places[site].saved} rows, and there are {reached.learned} now. Do all "
                                   "machines see this folder?")
        for first, batch in waiting:
            reached = Place(*self.asked(site, "learn", first, *batch))
        return reached

    def note(self, site: str, reached: Place) -> None:
        """Forgets rows that are in a checkpoint."""
        self.places[site], kept = reached, self.unsaved[site]
        while kept and kept[0][0] + len(kept[0][1][0]) <= reached.saved:
            kept.popleft()

    def place(self, site: str) -> Place:
        """How far the site is, as far as this program knows."""
        if site not in self.places:
            self.places[site] = self.reached(site)
        return self.places[site]

    def reached(self, site: str) -> Place:
        """How far its actor is."""
        return Place(*self.asked(site, "place"))

    def learned(self, site: str) -> int:
        """How many rows the site has learned: the number of the next one."""
        return self.place(site).learned

    def asked(self, site: str, method: str, *arguments: Any) -> Any:
        return self.answer(getattr(self.actor(site), method).remote(site, *arguments))

    def answer(self, reference: Any) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise own_error(error) from None

    def save(self) -> None:
        """A checkpoint of every site, now."""
        for site, place in self.places.items():
            reached = self.asked(site, "save", place.learned)
            while reached is None:
                self.send_again(site, self.reached(site))
                reached = self.asked(site, "save", place.learned)
            self.places[site] = Place(*reached)
            self.unsaved.pop(site, None)

    def names(self) -> list[str]:
        """All sites that there are, those of earlier programs on this folder among them."""
        return sorted({*itertools.chain(self.places, Checkpoints(self.folder).sites())})
