"""Players by name, for the command line and for files.

random                     every legal move as likely
uct:1000                   UCT with 1000 iterations a move
uct:2s                     UCT for two seconds a move
uct:1000:playouts=8        any field of UctSettings may follow
runs/NAME                  the newest checkpoint of a run, 100 simulations a move
runs/NAME:sims=400         any field of SearchSettings may follow
runs/NAME:time=1s          as many simulations as one game alone would have in a second
runs/NAME:playouts=0       without the random playouts from leaves that helped in training
runs/NAME:symmetries=1     every position evaluated once, not under two symmetries of the game
runs/NAME:sims=0           the policy of the network, without search
runs/NAME:step=2000        an earlier checkpoint of the run, or give its path
NAME                       the run in runs/ of this name
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from omnilude.arena.players import Player, RandomPlayer, UctPlayer
from omnilude.errors import CheckpointError, RulesError, SettingsError
from omnilude.games import Game, load
from omnilude.games.loading import load_text
from omnilude.games.survey import choose_at_once
from omnilude.search.evaluator import CALIBRATION_ROWS, ENGINES
from omnilude.search.settings import (
    Root,
    SearchSettings,
    UctSettings,
    make_settings,
)
from omnilude.spelling import find_close, name_known
from omnilude.training.run import RUNS, find_folder, is_run, load_newest_states, load_state

if TYPE_CHECKING:
    from omnilude.games.symmetry import Symmetry

SIMULATIONS = 100
"""Of a network's search, where nothing is said."""
SYMMETRIES = 2
"""Under so many symmetries of the game, where it has them, a position is evaluated."""
OPPONENTS = ("random", "uct:100")
ANCHORS = (*OPPONENTS, "uct:1000")
"""Fixed players beside which networks show their strength, while they learn and in ratings."""
FORMS = "random, uct:ITERATIONS, uct:SECONDSs, a run or checkpoint by path or a run by name"
ALIASES = {"sims": "simulations", "seconds": "time"}
OWN_OPTIONS = ("step", "time", "engine", "symmetries", "sims")
"""What the spec of a network may say besides the fields of SearchSettings."""
_SECONDS = re.compile(r"^(\d+(?:\.\d+)?|\.\d+)s$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPlan:
    """What the spec of a network means, with every default."""

    checkpoint: Path
    step: int
    weights: str  # their sha256
    search: SearchSettings | None  # none: the policy alone
    seconds: float  # for a move, instead of the simulations; 0: these count
    engine: str
    symmetries: int  # at most so many, where the game has them


def make_player(spec: str, game: Game, *, seed: int = 0, **options: Any) -> Player:
    """The player that a spec names; `options` count as if they were written in it."""
    kind, given = _read_spec(spec, options)
    if kind == "random":
        return RandomPlayer(game, seed=seed, name=spec)
    if kind == "uct":
        return UctPlayer(game, make_uct_settings(spec, given), seed=seed, name=spec)
    path = _find_path(kind)
    return _make_network_player(spec, path, _plan_network(spec, path, given, game), game, seed)


def explain_spec(spec: str, game: Game | None = None, **options: Any) -> dict[str, Any]:
    """What a spec means now, whatever folders are called: the weights that play, all settings.

    Needs no network, and complains of all that can be known to be wrong without it. Without the
    game a search is told to be by the rule that its network has learned by.
    """
    kind, given = _read_spec(spec, options)
    if kind == "random":
        return {"kind": kind}
    if kind == "uct":
        return {"kind": kind, **make_uct_settings(spec, given).to_dict()}
    told = asdict(_plan_network(spec, _find_path(kind), given, game))
    del told["checkpoint"]
    return {"kind": "network", **told}


def split_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """(what plays, its options): 'uct:1000:playouts=8' is UCT with a number and an option."""
    if spec.strip() and Path(spec).exists() and spec not in ("random", "uct"):
        return spec, {}  # a colon may be part of a path
    kind, *parts = re.split(r"[:,]", spec.strip())
    if not kind:
        raise SettingsError(f"{spec!r} names no player: give {FORMS}")
    options: dict[str, Any] = {}
    for part in parts:
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals and kind == "uct" and name:
            name, value = ("time" if _SECONDS.match(name) else "iterations"), name
        elif not name or not value:
            raise SettingsError(f"{part!r} in {spec!r} is not of the form name=value")
        name = ALIASES.get(name, name)
        if name in options:
            raise SettingsError(f"{spec!r} sets {name} twice")
        options[name] = value
    return kind, options


def _read_spec(spec: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    kind, given = split_spec(spec)
    for name, value in options.items():
        name = ALIASES.get(name, name)
        if name in given:
            raise SettingsError(f"{name} is set twice, in {spec!r} and by the options")
        given[name] = value
    if kind == "random":
        _refuse(spec, given)
    return kind, given


def make_uct_settings(spec: str, options: dict[str, Any]) -> UctSettings:
    if not {"time", "iterations"} & options.keys():
        raise SettingsError(f"{spec!r} needs a number of iterations or a time: uct:1000, uct:1s")
    options = dict(options)
    values: dict[str, Any] = {}
    known = [field.name for field in fields(UctSettings) if field.name not in ALIASES]
    _refuse_unknown(spec, options, [*known, "time"])
    if "time" in options:
        values["seconds"] = parse_seconds(options.pop("time"), spec)
        values["iterations"] = 0
    return make_settings(UctSettings, {**values, **_convert(UctSettings, options, spec)})


def parse_seconds(value: Any, spec: str) -> float:
    """A time: 1s, 0.5s, or a number."""
    match = _SECONDS.match(str(value)) or re.match(r"^(\d+(?:\.\d+)?)$", str(value))
    if not match or not float(match.group(1)):
        raise SettingsError(f"{value!r} in {spec!r} is not a time above 0, such as 1s or 0.5s")
    return float(match.group(1))


def _find_path(kind: str) -> Path:
    """Of a run or checkpoint; the name of a run in runs/ is enough."""
    path, named = Path(kind), find_folder(kind)
    taken = is_run(path) or _is_stem(path)
    return named if is_run(named) and not taken else path


def _is_stem(path: Path) -> bool:
    """Whether it is the path of a checkpoint, but for its .json."""
    # Folders such as '/' have no name.
    return path.name != "" and path.with_name(f"{path.name}.json").is_file()


def _has_weights(facts: Path) -> bool:
    """Whether a .json is that of a checkpoint, beside which its weights lie."""
    return any(facts.parent.glob(f"{escape(facts.stem)}.*.safetensors"))


def suggest_player(path: Path, *others: str) -> str:
    """Which run or checkpoint of its folder was meant, or of runs/, or which of the others: the end
    of a message, "" where none is close."""
    known = {name: name for name in others}
    with suppress(OSError):  # a folder that cannot be read suggests nothing
        for one in (path.parent if len(path.parts) > 1 else RUNS).iterdir():
            name = one.name.removesuffix(".json")
            if one != path and (is_run(one) or (name != one.name and _has_weights(one))):
                known[name] = str(one)
    close = find_close(path.name, known)
    return f"; did you mean {known[close]!r}?" if close else ""


def choose_root(game: Game, learned: Root) -> Root:
    """By which rule a network is searched in play: as it has learned, but by PUCT where more than
    two players take turns.

    There everything rests on what the others are taken to do. The more walks there are, the less
    Gumbel's rule doubts that, and a hope that is a hair above what is certain gets all.
    """
    return "puct" if len(game.players) > 2 and not choose_at_once(game) else learned


def _plan_network(spec: str, path: Path, options: dict[str, Any], game: Game | None) -> NetworkPlan:
    if not path.exists() and not _is_stem(path):
        hint = suggest_player(path, "random", "uct") or f": give {FORMS}"
        raise SettingsError(f"there is no player {spec!r}{hint}")
    from omnilude.networks.checkpoint import read_facts

    options = dict(options)
    checkpoint = find_checkpoint(path, _whole(options.pop("step", None), "step", spec))
    facts = read_facts(checkpoint)
    seconds = options.pop("time", None)
    engine = str(options.pop("engine", "auto"))
    if engine not in ENGINES:
        raise SettingsError(f"engine in {spec!r} must be one of {', '.join(ENGINES)}")
    shown = facts["encoding"]["kind"] == "planes" and facts["extra"].get("augment", True)
    usual = SYMMETRIES if shown else 1
    symmetries, search = 1, None
    _refuse_unknown(spec, options, (*OWN_OPTIONS, *(one.name for one in fields(SearchSettings))))
    if seconds is not None and "simulations" in options:
        raise SettingsError(f"{spec!r} has both sims and time: give one of them")
    if str(options.get("simulations")) == "0":
        options.pop("simulations")
        _refuse(spec, options)
    else:
        symmetries = _whole(options.pop("symmetries", usual), "symmetries", spec)
        if symmetries < 1:
            raise SettingsError(f"symmetries in {spec!r} must be at least 1, not {symmetries}")
        search = _plan_search(facts["extra"], _convert(SearchSettings, options, spec), game)
    return NetworkPlan(
        checkpoint=checkpoint,
        step=facts["step"],
        weights=facts["weights"]["sha256"],
        search=search,
        seconds=0 if seconds is None else parse_seconds(seconds, spec),
        engine=engine,
        symmetries=symmetries,
    )


def _plan_search(
    extra: dict[str, Any], chosen: dict[str, Any], game: Game | None
) -> SearchSettings:
    """The search of a network, from what was saved with it and what was chosen."""
    # In a match other games come between two positions of a game: there is no tree to keep.
    defaults = {"simulations": SIMULATIONS, "reuse": False, **extra.get("search", {})}
    # How many playouts a leaf gets, and what they count, is found while a network is trained.
    defaults |= {name: extra[name] for name in ("playouts", "playout_weight") if name in extra}
    if not float({**defaults, **chosen}.get("playout_weight", 0)):
        defaults["playouts"] = 0
    if game is not None and "root" not in chosen:
        defaults["root"] = choose_root(game, defaults.get("root", SearchSettings().root))
    return SearchSettings.for_play(**{**defaults, **chosen})


def _make_network_player(spec: str, path: Path, plan: NetworkPlan, game: Game, seed: int) -> Player:
    # Networks need PyTorch, which takes seconds to import.
    from omnilude.arena.network_players import PolicyPlayer, SearchPlayer
    from omnilude.networks import load_checkpoint

    network = load_checkpoint(plan.checkpoint, game).network
    origin = {"path": str(path), "step": plan.step, "weights": plan.weights}
    states = None
    if plan.engine == "onnx-int8" and is_run(path):
        states = load_newest_states(path, CALIBRATION_ROWS)
    if plan.search is None:
        return PolicyPlayer(
            game,
            network,
            engine=plan.engine,
            calibration=states,
            seed=seed,
            name=spec,
            origin=origin,
        )
    return SearchPlayer(
        game,
        network,
        plan.search,
        seconds=plan.seconds,
        engine=plan.engine,
        calibration=states,
        symmetries=_choose_symmetries(game, plan.symmetries),
        seed=seed,
        name=spec,
        origin=origin,
    )


def _choose_symmetries(game: Game, count: int) -> tuple[Symmetry, ...]:
    """At most `count` of those that networks are shown in training; none if that is one."""
    if count == 1:
        return ()
    from omnilude.training.batches import usable_symmetries

    chosen = usable_symmetries(game)[:count]
    return chosen if len(chosen) > 1 else ()


def find_checkpoint(path: Path, step: int | None = None) -> Path:
    """The checkpoint itself, or of a run the newest, or that of a step."""
    if not is_run(path):
        if not path.is_file() and not _is_stem(path):
            raise CheckpointError(
                f"there is no run or checkpoint {str(path)!r}{suggest_player(path)}"
            )
        if step is not None:
            raise SettingsError(f"{path} is a checkpoint, not a run: it has no other steps")
        return path
    checkpoints = list_checkpoints(path)
    if not checkpoints:
        raise CheckpointError(f"the run {path} has no checkpoint yet: train it a little longer")
    if step is None:
        return checkpoints[max(checkpoints)]
    if step not in checkpoints:
        known = ", ".join(map(str, checkpoints))
        raise CheckpointError(f"the run {path} has no checkpoint of step {step}, only of {known}")
    return checkpoints[step]


def list_checkpoints(run: Path) -> dict[int, Path]:
    """The checkpoints of a run that were kept, by step, oldest first."""
    state = load_state(run)
    kept = [one for one in state.checkpoints if one["file"]] if state else []
    return {int(one["step"]): run / one["file"] for one in sorted(kept, key=lambda c: c["step"])}


def find_game(spec: str, *, needed: bool = True) -> Game | None:
    """The game that a run has learned, from the rules in its folder, or that of a checkpoint if it
    is a bundled one; None for other players, and for a run without rules if it is not needed."""
    folder = _find_path(split_spec(spec)[0])
    rules = folder / "rules.kif"
    if is_run(folder):
        if not rules.is_file():
            if not needed:
                return None
            raise CheckpointError(
                f"{rules} is missing: name the game, or go on with the run, which writes it again"
            )
        state = load_state(folder)
        name = (state and state.game) or folder.name
        return load_text(rules.read_text(encoding="utf-8"), name=name, file=str(rules))
    return None if folder.is_dir() else _find_bundled_game(folder)


def _find_bundled_game(checkpoint: Path) -> Game | None:
    from omnilude.networks.checkpoint import read_facts, rules_fingerprint

    try:
        facts = read_facts(checkpoint)
    except CheckpointError:  # not one, or damaged: whoever makes the player will say so
        return None
    try:
        game = load(str(facts["game"]))
    except RulesError:
        return None
    return game if game.program and rules_fingerprint(game) == facts["rules"] else None


def _refuse_unknown(spec: str, options: dict[str, Any], known: Sequence[str]) -> None:
    for name in options:
        if name not in known:
            raise SettingsError(f"{spec!r} has no {name!r}; it has {name_known(name, known)}")


def _convert(kind: type[Any], options: dict[str, Any], spec: str) -> dict[str, Any]:
    """Texts as values of the fields' types."""
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, value in options.items():
        hint = hints[name]
        if not isinstance(value, str):
            values[name] = value
        elif hint is bool:
            if value.lower() not in ("true", "false", "yes", "no", "1", "0"):
                raise SettingsError(f"{name} in {spec!r} must be true or false, not {value!r}")
            values[name] = value.lower() in ("true", "yes", "1")
        elif hint is int:
            values[name] = _whole(value, name, spec)
        elif hint is float:
            try:
                values[name] = float(value)
            except ValueError:
                raise SettingsError(f"{name} in {spec!r} must be a number, not {value!r}") from None
        else:
            values[name] = value
    return values


def _whole(value: Any, name: str, spec: str) -> Any:
    if value is None or isinstance(value, int):
        return value
    if not re.match(r"^-?\d+$", str(value)):
        raise SettingsError(f"{name} in {spec!r} must be a whole number, not {value!r}")
    return int(value)


def _refuse(spec: str, options: dict[str, Any]) -> None:
    if options:
        raise SettingsError(f"{spec!r} has no options, but is given {', '.join(options)}")
