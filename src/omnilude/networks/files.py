"""Writing files so that a reader, or the next start after a crash, sees all of them or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from importlib import metadata
from pathlib import Path
from typing import Any


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces `path` in one step, after its content has reached the disk.

    A process that is killed meanwhile leaves a file `.NAME.*.part` behind, and nothing else.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{os.getpid()}-{threading.get_ident()}.part"
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def checksum(document: dict[str, Any]) -> str:
    """The sha256 of what a JSON document says, however it is laid out."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def find_version() -> str:
    """The version of omnilude, for the files it writes; "" where it is not installed."""
    try:
        return metadata.version("omnilude")
    except metadata.PackageNotFoundError:
        return ""


def _sync_folder(folder: Path) -> None:
    """The new name of a file is on the disk only when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
