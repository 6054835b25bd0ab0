"""Automorphisms of coloured graphs, by igraph's BLISS, in a process of their own.

The search cannot be interrupted, and there are small graphs on which it would take years: so it
runs in a worker process, which is ended where the time is over and started anew when needed. The
worker runs this file as a script, so that it loads nothing but numpy and igraph.
"""

from __future__ import annotations

import atexit
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

_HEADER = struct.Struct("<qqqq")  # vertices, edges, points, whether to count
_READY = b"!"


@dataclass(frozen=True, slots=True)
class ColouredGraph:
    """Undirected. Its first vertices are its points: what is asked is how they are permuted."""

    colours: NDArray[np.int32]  # [vertices]
    edges: NDArray[np.int32]  # [edges, 2]
    points: int


def find_generators(graph: ColouredGraph, seconds: float) -> NDArray[np.int32] | None:
    """Generators of the automorphisms, [generators, points]; None where the time was too short."""
    answer = _ask(graph, False, seconds)
    if answer is None:
        return None
    return np.frombuffer(answer, dtype="<i4").reshape(-1, graph.points).astype(np.int32)


def count_actions(graph: ColouredGraph, seconds: float) -> int | None:
    """In how many ways automorphisms permute the points; None where the time was too short."""
    answer = _ask(graph, True, seconds)
    return None if answer is None else int(answer)


_lock = threading.Lock()
_worker: subprocess.Popen[bytes] | None = None


def _ask(graph: ColouredGraph, count: bool, seconds: float) -> bytes | None:
    global _worker
    _, colours = np.unique(graph.colours, return_inverse=True)
    header = _HEADER.pack(len(colours), len(graph.edges), graph.points, count)
    message = np.concatenate([colours, graph.edges.reshape(-1)]).astype("<i4").tobytes()
    with _lock:
        _worker = _worker or _start()
        worker = _worker
        assert worker.stdin is not None
        assert worker.stdout is not None
        timer = threading.Timer(seconds, worker.kill)
        timer.start()
        try:
            worker.stdin.write(header + message)
            worker.stdin.flush()
            (size,) = struct.unpack("<q", _read(worker.stdout, 8))
            return _read(worker.stdout, size)
        except (EOFError, BrokenPipeError):
            worker.wait()
            atexit.unregister(worker.kill)
            _worker = None
            return None
        finally:
            timer.cancel()


def _start() -> subprocess.Popen[bytes]:
    worker = subprocess.Popen(
        [sys.executable, "-I", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(worker.kill)
    assert worker.stdout is not None
    if worker.stdout.read(1) != _READY:
        raise RuntimeError("the worker that finds automorphisms does not start")
    return worker


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _serve() -> None:
    """The worker: answers graphs from standard input until it is closed."""
    import igraph

    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    outgoing.write(_READY)
    outgoing.flush()
    while header := incoming.read(_HEADER.size):
        vertices, edges, points, count = _HEADER.unpack(header)
        colours = np.frombuffer(_read(incoming, 4 * vertices), dtype="<i4")
        pairs = np.frombuffer(_read(incoming, 8 * edges), dtype="<i4").reshape(-1, 2)
        graph = igraph.Graph(n=vertices, edges=pairs)
        if count:
            # Those that move no point are the same permutation of the points.
            told_apart = colours + points
            told_apart[:points] = np.arange(points)
            still = graph.count_automorphisms(color=told_apart.tolist())
            answer = str(graph.count_automorphisms(color=colours.tolist()) // still).encode()
        else:
            identity = list(range(points))
            found = graph.automorphism_group(color=colours.tolist())
            moving = [row[:points] for row in found if row[:points] != identity]
            answer = np.array(moving, dtype="<i4").tobytes()
        outgoing.write(struct.pack("<q", len(answer)) + answer)
        outgoing.flush()


if __name__ == "__main__":
    _serve()
