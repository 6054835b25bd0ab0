"""A lock on a run folder: two processes must never train the same run."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from omnilude.errors import SettingsError


class FolderLock:
    """Held by an open file, so that the system lets go of it however the process ends.

    The file also says who holds it, for people. Where the system cannot lock files (some network
    file systems), the process number decides alone: a lock whose process is gone is stale.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self._file = self.path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._refuse(error)
        except OSError as error:
            if process_lives(self._holder()):
                self._refuse(error)
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n".encode())
        self._file.flush()

    def release(self) -> None:
        # The file stays: were it removed, a process that has just opened it would lock nothing.
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()

    def _holder(self) -> int:
        self._file.seek(0)
        text = self._file.read().strip()
        return int(text) if text.isdigit() else 0

    def _refuse(self, error: OSError) -> None:
        holder = self._holder() or "another"
        self._file.close()
        raise SettingsError(
            f"{self.path.parent} is being trained by process {holder}; "
            "wait for it, stop it, or choose another folder"
        ) from error


def process_lives(number: int) -> bool:
    """Whether a process of this number exists here."""
    if not number or number == os.getpid():
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
