"""The run folder: all that a run needs to go on after it was killed at any instant.

    settings.toml   every setting, with its help
    rules.kif       the rules that are learned
    state.json      the last commit: counters, and the name of every file that belongs to it
    state/          weights, their average and the optimiser's moments (safetensors)
    replay/         the positions of the replay buffer, a chunk a commit (npz)
    games/          finished games, the newest (JSON lines, gzip)
    checkpoints/    what players are made from, thinned out
    metrics.jsonl   a line an iteration and an assessment;  tensorboard/  for TensorBoard
    lock            who trains it

Files are written under new names, then `state.json` is replaced in one step, then files that it
does not name any more are removed. What a killed process wrote after its last commit is not named,
and is removed at the next start; `metrics.jsonl` is cut to the length it had. Until its first
commit a run has written nothing but its rules, its settings and its first weights.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnilude.errors import CheckpointError, OmniludeError, SettingsError
from omnilude.networks.files import checksum, find_version, write_atomically
from omnilude.networks.settings import AUTO
from omnilude.training.lock import FolderLock
from omnilude.training.options import change_settings, flatten
from omnilude.training.settings import CHANGEABLE, TrainingSettings
from omnilude.training.targets import Targets
from omnilude.training.thinning import thin
from omnilude.training.toml import missing_settings, read_toml, write_toml

if TYPE_CHECKING:
    import torch

    from omnilude.games import Game

MANAGED = ("state", "replay", "games", "checkpoints")
"""Folders in which files of a run that the state does not name are removed."""
RUNS = Path("runs")
"""Where runs are that are only named."""
OWN_NAME = re.compile(r"\d{12}\.|step-\d{8}\.|\..*\.part$")
"""Of the files that a run writes there, or half writes: others are the user's."""
FIRST_WEIGHTS = f"{1_000_000:012}.safetensors"
"""In state/: what the first commit of a run writes before its state.json, as `_name` calls it."""
KEPT_CHECKPOINTS = 25
FORMAT = 1


@dataclass(slots=True)
class RunState:
    """The last commit, as in state.json."""

    format: int = FORMAT
    omnilude: str = ""  # version that began the run
    game: str = ""
    rules: str = ""  # fingerprint
    layout: str = ""  # of fluents and moves, as the replay buffer has them; "" in older versions
    session: int = 0  # starts so far: each has random numbers of its own
    elapsed: float = 0.0  # seconds, over all sessions
    iteration: int = 0
    positions: int = 0
    games: int = 0
    steps: int = 0
    owed: float = 0.0  # samples that the learner has still to draw
    metrics_bytes: int = 0
    random: dict[str, Any] = field(default_factory=dict)
    playout_count: int = -1  # from each leaf; -1: not measured yet
    playouts: list[list[float]] = field(default_factory=list)  # moments of their weight
    scores: dict[str, float] = field(default_factory=dict)  # of the last assessment
    assessed: int = -1  # steps that the network had learned then
    learner: str = ""  # file
    learner_sha256: str = ""
    replay: list[dict[str, Any]] = field(default_factory=list)  # file, positions
    kept_games: list[dict[str, Any]] = field(default_factory=list)  # file, games
    checkpoints: list[dict[str, Any]] = field(default_factory=list)
    """All there ever were: step, positions, elapsed, and the file, "" where thinned out."""

    def files(self) -> set[str]:
        named = [chunk["file"] for chunk in (*self.replay, *self.kept_games, *self.checkpoints)]
        return {name for name in (self.learner, *named) if name}


class Run:
    """An open run folder. `state` is what the next commit will write."""

    def __init__(self, folder: Path, game: Game, settings: TrainingSettings | None) -> None:
        from omnilude.networks.checkpoint import layout_fingerprint, rules_fingerprint

        self.folder, self._game = folder, game
        if folder.exists() and not folder.is_dir():
            raise SettingsError(f"{folder} is a file, not the folder of a run")
        if folder.exists() and not _is_there(folder / "settings.toml") and _strangers(folder):
            raise SettingsError(f"{folder} is not a run folder, and not empty")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(folder)
        except OSError as error:
            raise SettingsError(f"cannot write in {folder}: {error.strerror}") from error
        try:
            stored, rules = load_settings(folder), rules_fingerprint(game)
            self.settings = settings or stored or TrainingSettings()
            self.state = load_state(folder) or RunState(
                omnilude=find_version(), game=game.name, rules=rules
            )
            self.resumed = self.state.learner != ""
            if self.resumed and self.state.rules != rules:
                raise CheckpointError(
                    f"{folder} has learned other rules: those of {self.state.game or 'a game'} "
                    f"({self.state.rules[:12]}), not of {game.name} ({rules[:12]})"
                )
            layout = layout_fingerprint(game)
            if self.resumed and self.state.layout and self.state.layout != layout:
                # Rules are grounded in one of two ways, by what is quick enough at the time.
                raise CheckpointError(
                    f"the positions in {folder} have their fluents and moves in another order than "
                    f"those of {game.name} as it was loaded now: try again when the machine is "
                    f"less busy, or with omnilude {self.state.omnilude}, which began the run"
                )
            self.state.layout = layout
            self.warning = ""
            if self.resumed and stored:
                self.warning = self._look_for_missing()
                if self.settings.network.preset == AUTO:  # what it stands for was found before
                    found = {"preset": stored.network.preset}
                    self.settings = change_settings(self.settings, found)
                check_changes(stored, self.settings, self._settings_file)
            metrics_bytes = self._measure_metrics()
            # Nothing but the lock was written until here: an error leaves the folder as it was.
            write_atomically(folder / "rules.kif", rules_text(game).encode())
            self.settle(self.settings)
            self._clean(metrics_bytes)
            self._metrics = (folder / "metrics.jsonl").open("ab")
        except BaseException:
            self._lock.release()
            raise
        self.state.session += 1

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._metrics.close()
        self._lock.release()

    @property
    def _settings_file(self) -> Path:
        return self.folder / "settings.toml"

    def _look_for_missing(self) -> str:
        """What to tell of settings that the version which began the run did not have."""
        text = self._settings_file.read_text(encoding="utf-8")
        missing = ", ".join(missing_settings(text, TrainingSettings))
        began = f"omnilude {self.state.omnilude}" if self.state.omnilude else "an older omnilude"
        told = f"{self.folder} was begun by {began}, without {missing}: as by default now"
        return told if missing else ""

    def settle(self, settings: TrainingSettings) -> None:
        """The settings that the run has from now on."""
        self.settings = settings
        title = f"Settings of a training run of {self._game.name}, as `omnilude train` made them."
        write_atomically(self._settings_file, write_toml(settings, title).encode())

    # --- writing: nothing counts until `commit` ---

    def add_metrics(self, values: Mapping[str, Any]) -> None:
        self._metrics.write(json.dumps(dict(values)).encode() + b"\n")
        self._metrics.flush()

    def add_chunk(self, targets: Targets) -> None:
        """Positions for the replay buffer."""
        if not targets.positions:
            return
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **targets.arrays())
        name = self._name("replay", "npz")
        write_atomically(self.folder / name, buffer.getvalue())
        self.state.replay.append({"file": name, "positions": targets.positions})

    def drop_chunks(self, needed: int) -> None:
        """Forgets the oldest chunks, as long as so many positions remain."""
        chunks = self.state.replay
        total = sum(chunk["positions"] for chunk in chunks)
        while chunks and total - chunks[0]["positions"] >= needed:
            total -= chunks.pop(0)["positions"]

    def add_games(self, games: Sequence[dict[str, Any]]) -> None:
        if not games or not self.settings.kept_games:
            return
        games = games[-self.settings.kept_games :]
        lines = "".join(json.dumps(game, separators=(",", ":")) + "\n" for game in games)
        name = self._name("games", "jsonl.gz")
        write_atomically(self.folder / name, gzip.compress(lines.encode(), 1, mtime=0))
        kept = self.state.kept_games
        kept.append({"file": name, "games": len(games)})
        while sum(f["games"] for f in kept) - kept[0]["games"] >= self.settings.kept_games:
            kept.pop(0)

    def add_checkpoint(self, name: str, **facts: Any) -> None:
        """Names a checkpoint that was just written, and thins out the older ones."""
        checkpoints = self.state.checkpoints
        checkpoints[:] = [one for one in checkpoints if one["file"] != name]
        checkpoints.append({"file": name, **facts})
        kept = [one for one in checkpoints if one["file"]]
        for number in thin([one["elapsed"] for one in kept], KEPT_CHECKPOINTS):
            kept[number]["file"] = ""

    def commit(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Makes everything that was added, and these tensors of the learner, the state that the
        next start begins from."""
        import safetensors.torch

        name = self._name("state", "safetensors")
        contiguous = {key: tensor.detach().contiguous() for key, tensor in tensors.items()}
        weights = safetensors.torch.save(contiguous)
        write_atomically(self.folder / name, weights)
        self.state.learner = name
        self.state.learner_sha256 = hashlib.sha256(weights).hexdigest()
        os.fsync(self._metrics.fileno())
        self.state.metrics_bytes = self._metrics.tell()
        document = json.loads(json.dumps(asdict(self.state)))
        document["checksum"] = checksum(document)
        write_atomically(self.folder / "state.json", json.dumps(document, indent=1).encode())
        self._remove_unnamed()

    # --- reading ---

    def load_tensors(self) -> dict[str, torch.Tensor]:
        import safetensors.torch

        path, wanted = self.folder / self.state.learner, self.state.learner_sha256
        with reading(path):
            weights = path.read_bytes()
            if wanted and hashlib.sha256(weights).hexdigest() != wanted:
                raise ValueError("its sha256 is not what state.json says")
            return safetensors.torch.load(weights)

    def load_chunks(self) -> Iterator[Targets]:
        """The chunks of the replay buffer, oldest first, one at a time in memory."""
        for chunk in self.state.replay:
            path = self.folder / chunk["file"]
            with reading(path), np.load(path, allow_pickle=False) as arrays:
                targets = Targets(**arrays)
            yield targets

    # --- keeping order ---

    def _name(self, folder: str, ending: str) -> str:
        """A name that no file has: not even one that a killed session left behind counts."""
        number = self.state.session * 1_000_000 + self.state.iteration
        name = f"{folder}/{number:012}.{ending}"
        while (self.folder / name).exists():
            number += 1
            name = f"{folder}/{number:012}.{ending}"
        return name

    def _measure_metrics(self) -> int:
        """The length of the lines of metrics.jsonl up to the last commit, all of which are read: a
        damaged one is told now, not by the plots when the run is over."""
        path = self.folder / "metrics.jsonl"
        if not path.is_file():  # which may have been removed
            return 0
        with reading(path):
            content = path.read_bytes()[: self.state.metrics_bytes]
            _parse_metrics(content)
            return content.rfind(b"\n") + 1

    def _clean(self, metrics_bytes: int) -> None:
        """What a killed process left: half-written files, and lines after the last commit."""
        for folder in MANAGED:
            (self.folder / folder).mkdir(exist_ok=True)
        for part in self.folder.glob(".*.part"):
            part.unlink()
        self._remove_unnamed()
        metrics = self.folder / "metrics.jsonl"
        if metrics.exists():
            os.truncate(metrics, metrics_bytes)

    def _remove_unnamed(self) -> None:
        named = self.state.files()
        for folder in MANAGED:
            for path in (self.folder / folder).iterdir():
                # A checkpoint is several files with one stem.
                name = f"{folder}/{path.name}"
                needed = any(name == one or name.startswith(f"{one}.") for one in named)
                if OWN_NAME.match(path.name) and not needed and not path.is_dir():
                    path.unlink()


def is_run(folder: Path) -> bool:
    return (folder / "settings.toml").is_file()


def find_folder(run: str) -> Path:
    """A run by name or by path. A bare name is that of a run in runs/, unless only something else
    has it: a checkpoint, or a run that was moved here."""
    path, named = Path(run), RUNS / run
    if len(path.parts) > 1 or (path.exists() and not named.exists()):
        return path
    return named


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong with a file of a run becomes an error that names the file and why."""
    try:
        yield
    except OmniludeError:
        raise
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # there is no list of all that readers raise over damaged files
        raise CheckpointError(f"{path} is damaged or cut off: {error}") from error


def _is_there(path: Path) -> bool:
    """Whether there is a file that each committed run has. Where it alone was lost an error says
    so, or the run would count as one that has just begun, and be cleaned away."""
    if path.is_file():
        return True
    kept = _find_committed(path.parent)
    if kept:
        raise CheckpointError(
            f"{path} is missing, but {kept} is there: if this is a run, put a copy of {path.name} "
            "back, or use another folder"
        )
    return False


def _find_committed(folder: Path) -> str:
    """A file that a run has only after its first commit; "" in folders that a run killed before it
    may have left, or that are not of a run."""
    if (folder / "state.json").is_file():
        return "state.json"
    for name in MANAGED:
        for path in sorted((folder / name).glob("[!.]*")):  # half-written files say nothing
            if OWN_NAME.match(path.name) and path.name != FIRST_WEIGHTS and not path.is_dir():
                return f"{name}/{path.name}"
    metrics = folder / "metrics.jsonl"
    return metrics.name if metrics.is_file() and metrics.stat().st_size else ""


def load_settings(folder: Path) -> TrainingSettings | None:
    """The settings of a run, or None where there is no run."""
    path = folder / "settings.toml"
    if not _is_there(path):
        return None
    with reading(path):
        return read_toml(path.read_text(encoding="utf-8"), TrainingSettings(), file=str(path))


def load_state(folder: Path) -> RunState | None:
    """The last commit of a run, or None where there is none yet."""
    path = folder / "state.json"
    if not _is_there(path):
        return None
    with reading(path):
        values = json.loads(path.read_bytes())
        if values.get("format") != FORMAT:
            raise CheckpointError(
                f"{path} has format {values.get('format')}, but this version reads {FORMAT}"
            )
        stored = values.pop("checksum", None)  # older versions wrote none
        if stored and stored != checksum(values):
            raise ValueError("its checksum is not that of it")
        known = {one.name for one in fields(RunState)}
        return RunState(**{name: value for name, value in values.items() if name in known})


def load_newest_states(folder: Path, count: int) -> NDArray[np.uint8] | None:
    """[count, bytes]: the newest positions of a run; None where it has not kept so many."""
    state = load_state(folder)
    parts: list[NDArray[np.uint8]] = []
    for chunk in reversed(state.replay if state else []):
        path = folder / chunk["file"]
        if not path.is_file():  # a run may be copied without its buffer
            return None
        with reading(path), np.load(path, allow_pickle=False) as arrays:
            parts.append(arrays["states"])
        if sum(map(len, parts)) >= count:
            return np.concatenate(parts[::-1])[-count:]
    return None


def load_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl, without one that is half written."""
    path = folder / "metrics.jsonl"
    if not path.is_file():
        return []
    with reading(path):
        return _parse_metrics(path.read_bytes())


def _parse_metrics(content: bytes) -> list[dict[str, Any]]:
    *lines, half_written = content.split(b"\n")
    parsed: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise ValueError(f"line {number} is not a JSON object; remove that line to go on")
        parsed.append(values)
    half_written.decode()  # which is text all the same
    return parsed


def check_changes(stored: TrainingSettings, given: TrainingSettings, file: Path) -> None:
    """A run goes on with the settings it began with, but for its budgets and its machine."""
    old, new = flatten(stored), flatten(given)
    for name in new:
        if old[name] != new[name] and name not in CHANGEABLE:
            raise SettingsError(
                f"{name} is {new[name]!r}, but the run began with {old[name]!r} ({file}): "
                "leave it as it was, or train in another folder"
            )


def rules_text(game: Game) -> str:
    """The rules of a game: its rulesheet where there is one, else the rules that were read."""
    path = Path(game.file)
    if path.is_file():
        return path.read_bytes().decode("utf-8", errors="replace")
    assert game.program is not None
    return "".join(f"{rule}\n" for rule in game.program.rules)


def _strangers(folder: Path) -> bool:
    """Whether there is anything that a run killed at its very beginning would not have left."""
    ours = {"lock", "rules.kif", *MANAGED}
    return any(
        path.name not in ours and not path.name.endswith(".part") for path in folder.iterdir()
    )
