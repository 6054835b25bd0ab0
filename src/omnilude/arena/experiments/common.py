"""What experiments share: files of results that grow part by part, training and matches in them."""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context, parent_process
from pathlib import Path
from statistics import median
from typing import Any

import typer
from rich.console import Console

from omnilude.arena.match import OPENING_PLIES, MatchSettings, play_match
from omnilude.arena.players import TimedPlayer
from omnilude.arena.results import find_versions, write_json
from omnilude.arena.specs import (
    explain_spec,
    find_checkpoint,
    list_checkpoints,
    make_player,
)
from omnilude.errors import OmniludeError, SettingsError
from omnilude.games import Game, load
from omnilude.networks.settings import USUAL_PRESET
from omnilude.training.options import change_settings
from omnilude.training.progress import summarise_speed
from omnilude.training.run import is_run, load_metrics, load_state
from omnilude.training.settings import TrainingSettings

RESULTS = Path("results")
FITTED_TURNS = 3


class ResultFile:
    """Parts by name, each with what it depends on; written whole after every part."""

    def __init__(self, path: Path, experiment: str, settings: dict[str, Any]) -> None:
        self.path = path
        self.console = Console()
        self.data: dict[str, Any] = {"experiment": experiment, "parts": {}}
        if path.is_file():
            self.data = _read_results(path)
        self.data["settings"] = settings

    @property
    def networks(self) -> Path:
        """Where the networks are kept that were trained, each as it was in the end: what they have
        played can be played again, and what is missing later, without training them once more."""
        return self.path.parent / "networks"

    def find_network(self, folder: Path) -> Path:
        """A run, or what was kept of it."""
        kept = self.networks / f"{folder.name}.json"
        return kept if kept.is_file() and not is_run(folder) else folder

    def has_network(self, folder: Path) -> bool:
        """Whether the run is there, or what was kept of it."""
        return self.find_network(folder) != folder or is_run(folder)

    def adopt(self, name: str, other: Path, part: str) -> None:
        """Takes over a part of another file, if that has it and this has not."""
        if name not in self.data["parts"] and other.is_file():
            found = _read_results(other)["parts"].get(part)
            if found is not None:
                self.data["parts"][name] = found

    def has(
        self, name: str, identity: dict[str, Any], defaults: dict[str, Any] | None = None
    ) -> bool:
        """Whether there is a part of this name, made from the same."""
        kept = self.data["parts"].get(name)
        same = json.loads(json.dumps(identity))
        return kept is not None and add_missing(kept["identity"], defaults) == same

    def part(
        self,
        name: str,
        identity: dict[str, Any],
        make: Callable[[], dict[str, Any]],
        *,
        complete: bool = True,
        defaults: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The part of this name: as it stands in the file if it was made from the same (and all
        that was made is there: `complete`), else made now.

        What it was made from when some settings did not exist yet is completed by `defaults`.
        """
        if self.has(name, identity, defaults) and complete:
            self.console.print(f"{name}: there already", style="dim", highlight=False)
            found: dict[str, Any] = self.data["parts"][name]
            return found
        identity = json.loads(json.dumps(identity))
        self.console.print(name, style="bold", highlight=False)
        made = {"identity": identity, "versions": find_versions(), **make()}
        self.data["parts"][name] = made
        write_json(self.path, self.data)
        return made


def _read_results(path: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        assert isinstance(data["parts"], dict)
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise SettingsError(f"{path} is not a file of results: {error!r}") from error
    return data


def read_numbers(text: str, what: str, *, least: int = 1) -> list[int]:
    """Whole numbers separated by commas, as an option has them; at least so many."""
    try:
        numbers = [int(number) for number in text.split(",") if number.strip()]
    except ValueError as error:
        raise SettingsError(f"{what} must be whole numbers, not {text!r}") from error
    if len(numbers) < least:
        raise SettingsError(f"there must be at least one of {what}")
    return numbers


def add_missing(values: dict[str, Any], defaults: dict[str, Any] | None) -> dict[str, Any]:
    """The values, and those defaults that are not among them, at every depth."""
    added = {**(defaults or {}), **values}
    for name, default in (defaults or {}).items():
        if isinstance(default, dict):
            added[name] = add_missing(added[name], default)
    return added


def train_part(
    file: ResultFile, name: str, game: str, folder: Path, changes: dict[str, Any]
) -> dict[str, Any]:
    """Trains from nothing (or goes on with the run in the folder) and notes how it went; again, if
    the network is not to be found any more."""
    # The size of the network is part of what is measured, not left to the machine.
    fixed = {"assess_minutes": 0.0, "preset": USUAL_PRESET}
    settings = change_settings(TrainingSettings(), {**fixed, **changes})
    identity = {"game": game, "training": settings.to_dict()}

    def make() -> dict[str, Any]:
        result = run_apart(train_once, game, folder, settings)
        if not result["summary"]["finished"]:
            raise KeyboardInterrupt
        keep_network(load(game), folder, file.networks)
        return result

    defaults = {"training": json.loads(json.dumps(TrainingSettings().to_dict()))}
    complete = file.has_network(folder)
    return file.part(name, identity, make, complete=complete, defaults=defaults)


def keep_network(game: Game, folder: Path, networks: Path) -> None:
    """Copies the newest checkpoint of a run to where it stays when the run is gone."""
    from omnilude.networks import load_checkpoint, save_checkpoint

    newest = load_checkpoint(find_checkpoint(folder), game)
    networks.mkdir(parents=True, exist_ok=True)
    save_checkpoint(
        networks / folder.name, newest.network, game, step=newest.step, extra=newest.extra
    )


def train_once(game: str, folder: Path, settings: TrainingSettings) -> dict[str, Any]:
    """A whole run, in this process."""
    from omnilude.training.display import make_display
    from omnilude.training.loop import train

    summary = asdict(train(load(game), folder, settings, display=make_display()))
    for name in ("folder", "checkpoint", "pictures"):  # of this machine, not of the result
        summary.pop(name)
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {
        "run": folder.name,
        "summary": summary,
        "largest_child_process": children,
        "speed": summarise_speed(load_metrics(folder)),
    }


def identify(
    file: ResultFile, name: str, game: Game, ordered: dict[str, Any], specs: Sequence[str]
) -> dict[str, Any]:
    """What matches depend on: what was ordered, and what the specs of the players mean now, so that
    they are played again when a run was trained anew or when a default is another.

    Where a run is gone, what it played stands.
    """
    try:
        meanings = [explain_spec(spec, game) for spec in specs]
    except SettingsError:
        kept = file.data["parts"].get(name, {"identity": {}})
        return {**kept["identity"], **ordered}
    return {**ordered, "meanings": meanings, "opening_plies": OPENING_PLIES}


def match_part(
    file: ResultFile,
    name: str,
    game: str,
    players: Sequence[str],
    settings: MatchSettings,
    runs: dict[str, str] | None = None,
    compared: tuple[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """A match; `runs` says which names at the start of specs stand for which run folders.

    `compared`, of matches by time: the part that tells how much players manage, and the specs of
    all whose matches are compared. Where that is measured anew, the match is played again.
    """
    specs = [_find_run(spec, runs or {}) for spec in players]
    loaded = load(game)

    def make() -> dict[str, Any]:
        contestants = [make_player(spec, loaded) for spec in specs]
        for player, shown in zip(contestants, players, strict=True):
            player.name = shown
            if "fitted" in ordered:
                assert isinstance(player, TimedPlayer)
                player.fitted = ordered["fitted"][shown]
        result = play_match(loaded, contestants, settings)
        file.console.print(result.table())
        return result.to_json(games=False)

    # The number of threads does not change the games.
    match = {**asdict(settings), "threads": None}
    ordered: dict[str, Any] = {"game": game, "players": list(players), "match": match}
    # Early versions measured for each match alone; that stands as long as it is so of all.
    alone = compared is None or compared[0] not in file.data["parts"]
    known = file.has(name, identify(file, name, loaded, ordered, specs))
    if compared is not None and not (alone and known):
        fitted = fit_part(file, compared[0], game, compared[1], runs or {})
        ordered["fitted"] = {spec: fitted[spec] for spec in players}
    return file.part(name, identify(file, name, loaded, ordered, specs), make)


def fit_part(
    file: ResultFile, name: str, game: str, players: Sequence[str], runs: dict[str, str]
) -> dict[str, int]:
    """How much players by time manage in it, by their specs: measured for all whose matches are
    compared, together and in turns, as a machine is not always as fast, nor always the same."""
    specs = [_find_run(spec, runs) for spec in players]
    loaded = load(game)

    def make() -> dict[str, Any]:
        counts: dict[str, list[int]] = {spec: [] for spec in players}
        for _ in range(FITTED_TURNS):
            for shown, spec in zip(players, specs, strict=True):
                player = make_player(spec, loaded)
                assert isinstance(player, TimedPlayer)
                counts[shown].append(player.fit())
        return {"counts": counts}

    ordered = {"game": game, "players": list(players)}
    counts = file.part(name, identify(file, name, loaded, ordered, specs), make)["counts"]
    return {spec: round(median(found)) for spec, found in counts.items()}


def _find_run(spec: str, runs: dict[str, str]) -> str:
    kind, colon, rest = spec.partition(":")
    return f"{runs.get(kind, kind)}{colon}{rest}"


def curve_part(
    file: ResultFile,
    name: str,
    game: str,
    folder: Path,
    opponent: str,
    *,
    options: str,
    count: int,
    settings: MatchSettings,
) -> None:
    """The strength over the time of training: matches of some of a run's checkpoints. Without the
    run, what the file has of it stands."""
    if not is_run(folder):
        return
    steps = list(list_checkpoints(folder))
    chosen = sorted({steps[round(n * (len(steps) - 1) / count)] for n in range(count + 1) if steps})
    specs = {step: f"{folder}:step={step}{options}" for step in chosen}

    loaded = load(game)

    def make() -> dict[str, Any]:
        state = load_state(folder)
        assert state is not None
        facts = {int(one["step"]): one for one in state.checkpoints}
        points = []
        for step, spec in specs.items():
            player = make_player(spec, loaded)
            player.name = f"step {step}"
            result = play_match(loaded, [player, make_player(opponent, loaded)], settings)
            told = {key: facts[step][key] for key in ("step", "positions", "elapsed")}
            points.append({**told, "tally": result.tally(0).to_json()})
        return {"points": points}

    ordered = {
        "game": game,
        "run": folder.name,
        "opponent": opponent,
        "options": options,
        "count": count,
        "match": {**asdict(settings), "threads": None},
    }
    file.part(name, identify(file, name, loaded, ordered, [*specs.values(), opponent]), make)


def run_experiment(main: Callable[..., None]) -> None:
    """Runs an experiment from the command line: what is wrong is said in one line."""
    try:
        typer.run(main)
    except OmniludeError as error:
        sys.exit(f"error: {error}")


def run_apart(function: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Calls a function in a process of its own, whose memory is its own too."""
    with ProcessPoolExecutor(
        1, mp_context=get_context("spawn"), initializer=end_with_parent
    ) as executor:
        return executor.submit(function, *arguments).result()


def end_with_parent() -> None:
    """Lets this process end when its parent does, even if that was killed."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
