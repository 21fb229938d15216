"""An index in a local Chroma store, a folder that is ours alone. Loads numpy; chromadb with the first use.

One process at a time may have it open: two of them do damage without any error, so the caller holds a lock
of the data folder. A kill in the wrong millisecond can leave the store unreadable (`IndexBroken`); then
`reset` puts the folder aside and begins anew. What is deleted stays in its files until `rebuild`.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from memory.vectors.collection import CollectionIndex, Store
from memory.vectors.port import Floats, IndexFault, IndexUnavailable, Nums

_QUARANTINE = "quarantine-"


class ChromaIndex(CollectionIndex):
    """A `CollectionIndex` that also cares for its folder."""

    def __init__(self, folder: Path) -> None:
        """``folder``: made when it is not there. Its parent also takes what is put aside."""
        self.folder = folder.resolve()
        super().__init__(lambda: _open(self.folder), f"in the folder {self.folder.name}")

    def rebuild(self, rows: Iterable[tuple[Nums, Floats]]) -> None:
        """Make a new folder with these vectors only and delete the old one with all that it held.

        Collections of other models are gone, too. When this fails, the old folder stays in use. Raises
        `IndexFault` and `ValueError`.
        """
        with self._lock:
            fresh = _fresh(self.folder)
            try:
                _remove(fresh)
                store = _open(fresh)
                try:
                    self._fill_all(store.collection(self._name(self._model_id)), rows)
                finally:
                    store.close()
                self.close()
                _replace(self.folder, fresh)
            except OSError as error:
                raise _unusable(self.folder, error) from error
            finally:
                with contextlib.suppress(OSError):
                    _remove(fresh)
            self._at_hand()

    def may_hold(self) -> bool:
        """Whether there is a folder, of its own or put aside."""
        return self.folder.exists() or bool(quarantined(self.folder))

    def erase(self, models: Iterable[str] = ()) -> None:
        """Delete the folder and what was put aside, with every byte that was ever in them.

        Collections of other models are gone, too. Raises `IndexUnavailable`.
        """
        with self._lock:
            self.close()
            try:
                for one in (self.folder, _fresh(self.folder), _old(self.folder)):
                    _remove(one)
            except OSError as error:
                raise _unusable(self.folder, error) from error
            delete_quarantined(self.folder)

    def reset(self, now: int) -> str:
        """Put the folder aside and begin anew, empty; returns where it is now, for a person.

        ``now``: microseconds since 1970, UTC. Raises `IndexFault`.
        """
        with self._lock:
            self.close()
            aside = quarantine(self.folder, now) if self.folder.exists() else None
            if self._model_id:
                self._at_hand()
        put_aside = "begun anew" if aside is None else f"put aside as {aside.name} and begun anew"
        return f"The index {self._place} was {put_aside}."


def quarantine(folder: Path, now: int) -> Path:
    """Rename a broken store, which nobody may have open, to ``quarantine-TIME`` beside it.

    ``now``: microseconds since 1970, UTC. Deletes nothing. Raises `IndexUnavailable`.
    """
    at = datetime.fromtimestamp(now / 1_000_000, UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in range(1, 1_000):
        suffix = "" if number == 1 else f"-{number}"
        aside = folder.with_name(f"{_QUARANTINE}{at}{suffix}")
        if aside.exists():
            continue
        try:
            folder.rename(aside)
        except OSError as error:
            raise _unusable(folder, error) from error
        return aside
    raise IndexUnavailable(f"Too many broken stores of one second are beside {folder.name}.")


def quarantined(folder: Path) -> list[Path]:
    """What was put aside beside a store, oldest first. It may hold vectors of texts erased since."""
    with contextlib.suppress(OSError):
        return sorted(
            one
            for one in folder.parent.iterdir()
            if one.name.startswith(_QUARANTINE) and one.is_dir()
        )
    return []


def delete_quarantined(folder: Path) -> int:
    """Delete what was put aside; returns how many folders. Raises `IndexUnavailable`."""
    aside = quarantined(folder)
    for one in aside:
        try:
            _remove(one)
        except OSError as error:
            raise _unusable(one, error) from error
    return len(aside)


def _open(folder: Path) -> Store:
    from memory.vectors.chroma_client import LocalStore

    try:
        # A rebuild that was interrupted: the index is filled again from the truth anyway.
        _remove(_fresh(folder))
        _remove(_old(folder))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from error
    return LocalStore(folder)


def _replace(folder: Path, fresh: Path) -> None:
    old = _old(folder)
    _remove(old)
    folder.rename(old)
    fresh.rename(folder)
    _remove(old)


def _fresh(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.new")


def _old(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.old")


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _unusable(folder: Path, error: OSError) -> IndexFault:
    reason = error.strerror or type(error).__name__
    return IndexUnavailable(f"The index in the folder {folder.name} cannot be used: {reason}.")
