"""Ratings of the checkpoints of a run: how its player grew stronger over time.

Each checkpoint plays those next to it and the anchors, fixed players that tie the scale to
something known. Matches are kept in the run's folder, so that rating again only plays what is new.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from omnilude.arena.assess import share_interest
from omnilude.arena.match import OPENING_PLIES, MatchSettings, play_match
from omnilude.arena.players import Player
from omnilude.arena.ratings import Rating, collect_points, rate
from omnilude.arena.results import MatchResult, find_versions, write_json
from omnilude.arena.specs import ANCHORS, explain_spec, list_checkpoints, make_player
from omnilude.errors import CheckpointError, SettingsError
from omnilude.fields import check_fields
from omnilude.games import Game
from omnilude.networks.files import write_atomically
from omnilude.training.run import is_run, load_state, reading

FILE, PICTURE = "ratings.json", "ratings.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSettings:
    """Who plays whom, and how often."""

    games: int = 40
    """Games of each pair."""
    checkpoints: int = 8
    """At most so many, spread evenly over the run; the first and the last are among them."""
    neighbours: int = 2
    """Each plays so many of the checkpoints that follow it."""
    anchors: tuple[str, ...] = ANCHORS
    """Fixed players; the first has rating 0."""
    simulations: int = 32
    """Of the checkpoints' search."""
    seed: int = 0
    threads: int = 0

    def __post_init__(self) -> None:
        check_fields(self, at_least={1: "neighbours", 2: "games checkpoints"})
        if not self.anchors:
            raise SettingsError("ratings need an anchor to start from")
        for spec in self.anchors:
            if self.anchors.count(spec) > 1:
                raise SettingsError(f"the anchors have {spec} more than once")


@dataclass(frozen=True, slots=True)
class History:
    """Ratings of everybody, and which of them are checkpoints of when."""

    ratings: list[Rating]
    steps: dict[str, int]  # by name, of the checkpoints
    minutes: dict[str, float]  # of training, likewise
    games: dict[str, int]  # that were played, by name of everybody


def rate_run(
    folder: Path,
    game: Game,
    settings: RatingSettings | None = None,
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> History:
    """Plays what has not been played yet, rates, and writes ratings.json and ratings.png.

    `progress` is told which match is being played, its number, and of how many.
    """
    settings = settings or RatingSettings()
    if not is_run(folder):
        raise SettingsError(f"{folder} is not the folder of a run")
    if share_interest(game):
        raise SettingsError(
            f"in {game.name} nobody plays against another, so there is nothing to rate; scores of "
            "players are compared by `omnilude match PLAYER PLAYER --together`"
        )
    steps = _choose_steps(folder, settings.checkpoints)
    names = {step: f"step {step}" for step in steps}
    specs = {name: str(folder) for name in names.values()}
    options = {
        name: {"step": step, "simulations": settings.simulations} for step, name in names.items()
    }
    specs |= {anchor: anchor for anchor in settings.anchors}
    meanings = {
        name: explain_spec(spec, game, **options.get(name, {})) for name, spec in specs.items()
    }
    pairs = _list_pairs([names[step] for step in steps], settings)
    kept = _load(folder)
    players: dict[str, Player] = {}

    def find_player(name: str) -> Player:
        if name not in players:
            player = make_player(specs[name], game, **options.get(name, {}))
            player.name = name
            players[name] = player
        return players[name]

    for number, pair in enumerate(pairs):
        key = " - ".join(pair)
        if progress:
            progress(key, number, len(pairs))
        # A match counts again if it would be played in the same way by the same.
        identity = {
            "games": settings.games,
            "seed": settings.seed,
            "opening_plies": OPENING_PLIES,
            "players": [meanings[name] for name in pair],
        }
        if kept.get(key, {}).get("identity") != identity:
            match = MatchSettings(
                games=settings.games, seed=settings.seed, threads=settings.threads
            )
            result = play_match(game, [find_player(name) for name in pair], match)
            kept[key] = {"identity": identity, **result.to_json()}
            _save(folder, settings, kept, [])
    results = [MatchResult.from_json(kept[" - ".join(pair)]) for pair in pairs]
    everybody, points = collect_points(results)
    ratings = rate(everybody, points, anchor=settings.anchors[0])
    state = load_state(folder)
    assert state is not None  # it has checkpoints
    times = {int(one["step"]): one["elapsed"] / 60 for one in state.checkpoints}
    played = Counter(name for one in results for name in one.contestants for _ in range(one.games))
    history = History(
        ratings,
        {name: step for step, name in names.items()},
        {name: times[step] for step, name in names.items()},
        dict(played),
    )
    _save(folder, settings, kept, ratings)
    draw_history(history, folder / PICTURE, title=f"{game.name}: {folder.name}")
    return history


def draw_history(history: History, path: Path, *, title: str) -> None:
    """Rating over minutes of training, with intervals; anchors as lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    learned = [rating for rating in history.ratings if rating.name in history.steps]
    times = [history.minutes[rating.name] for rating in learned]
    values = [rating.elo.value for rating in learned]
    below = [rating.elo.value - rating.elo.low for rating in learned]
    above = [rating.elo.high - rating.elo.value for rating in learned]
    axes.errorbar(times, values, yerr=[below, above], marker="o", capsize=3, label="checkpoints")
    for number, rating in enumerate(r for r in history.ratings if r.name not in history.steps):
        axes.axhline(rating.elo.value, color=f"C{number + 1}", linestyle="--", label=rating.name)
    axes.set(xlabel="minutes of training", ylabel="Elo, 95 % intervals", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    write_atomically(path, picture.getvalue())


def _choose_steps(folder: Path, most: int) -> list[int]:
    steps = list(list_checkpoints(folder))
    if len(steps) < 2:
        raise CheckpointError(f"{folder} has fewer than two checkpoints: there is nothing to rate")
    if len(steps) <= most:
        return steps
    return [steps[round(n * (len(steps) - 1) / (most - 1))] for n in range(most)]


def _list_pairs(checkpoints: Sequence[str], settings: RatingSettings) -> list[tuple[str, str]]:
    pairs = [
        (name, later)
        for place, name in enumerate(checkpoints)
        for later in checkpoints[place + 1 : place + 1 + settings.neighbours]
    ]
    pairs += [(name, anchor) for name in checkpoints for anchor in settings.anchors]
    anchors = settings.anchors
    pairs += [(a, b) for place, a in enumerate(anchors) for b in anchors[place + 1 :]]
    return pairs


def _load(folder: Path) -> dict[str, dict[str, Any]]:
    """The matches that were played before, by their names."""
    path = folder / FILE
    if not path.is_file():
        return {}
    with reading(path):
        matches: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))["matches"]
    return matches


def _save(
    folder: Path,
    settings: RatingSettings,
    matches: dict[str, dict[str, Any]],
    ratings: Sequence[Rating],
) -> None:
    data = {
        "settings": asdict(settings),
        "versions": find_versions(),
        "ratings": [asdict(rating) for rating in ratings],
        "matches": matches,
    }
    write_json(folder / FILE, data)
