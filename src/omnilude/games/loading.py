"""From a name or path to a `Game`: the circuit where it can be had, else the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from omnilude import _core
from omnilude.errors import BudgetExceeded, RulesError, Unsupported
from omnilude.games.game import Game
from omnilude.games.ludemes import load_ludemes
from omnilude.games.settings import LoadSettings
from omnilude.rules.gdl import EncodedRules, GdlProgram, compile_gdl
from omnilude.rules.library import find_rulesheet, read_rulesheet


def load(
    name_or_path: str | Path,
    settings: LoadSettings | None = None,
    *,
    options: Mapping[str, str] | None = None,
    ruleset: str | None = None,
    definitions: str | Path | None = None,
) -> Game:
    """Loads a bundled game by name or a description by path.

    `options` and `ruleset` choose among those of a ludemic description (.lud); `definitions` is a
    folder of definitions that it uses, instead of our own.
    """
    path = find_rulesheet(name_or_path)
    text = read_rulesheet(path)
    if path.suffix == ".lud":
        return load_ludemes(
            text,
            name=path.stem,
            file=str(path),
            options=options,
            ruleset=ruleset,
            definitions=None if definitions is None else Path(definitions),
        )
    if options or ruleset or definitions:
        raise RulesError("only ludemic descriptions (.lud) have options", file=str(path))
    return load_text(text, name=path.stem, file=str(path), settings=settings)


def load_text(
    text: str, *, name: str = "game", file: str = "<rules>", settings: LoadSettings | None = None
) -> Game:
    """Loads a game from the text of its rules."""
    settings = settings or LoadSettings()
    program = compile_gdl(text, file)
    warnings = list(program.warnings)
    core: _core.Game | None = None
    if settings.engine != "interpreter":
        try:
            core = _make_circuit(program, settings)
        except _core.BudgetExceeded as error:
            if settings.engine == "circuit":
                raise BudgetExceeded(f"the circuit would exceed the {error}", file=file) from error
            warnings.append(f"interpreted, because the circuit would exceed the {error}")
        except MemoryError as error:
            if settings.engine == "circuit":
                raise BudgetExceeded("not enough memory for the circuit", file=file) from error
            warnings.append("interpreted, because there was not enough memory for the circuit")
    engine = "circuit"
    if core is None:
        engine = "interpreter"
        try:
            core = _core.InterpretedGame.make(
                program.as_written.symbols,
                program.as_written.code,
                settings.query_seconds,
                settings.memory,
            )
        except _core.NegationInRecursion as error:
            raise RulesError(str(error), file=file) from error
        except (_core.BudgetExceeded, MemoryError) as error:
            raise BudgetExceeded(
                f"the rules cannot be evaluated within the {error}",
                file=file,
                hint="raise the budgets in LoadSettings, or simplify the rules",
            ) from error
    return Game(
        name,
        core,
        file=file,
        engine=engine,
        warnings=warnings,
        percepts=program.percepts,
        program=program,
    )


# Small games are also tried without splitting their rules, within these limits.
UNSPLIT_SECONDS = 0.5
UNSPLIT_INSTANCES = 100_000


def _make_circuit(program: GdlProgram, settings: LoadSettings) -> _core.CircuitGame:
    circuit = _ground(program.split, settings, settings.seconds, settings.instances)
    # Splitting keeps large rules from exploding, but may cost small ones some gates.
    if circuit.size["instances"] < UNSPLIT_INSTANCES:
        with suppress(_core.BudgetExceeded):
            limit = min(UNSPLIT_SECONDS, settings.seconds)
            plain = _ground(program.as_written, settings, limit, UNSPLIT_INSTANCES)
            if plain.size["gates"] < circuit.size["gates"]:
                circuit = plain
    if settings.check_playouts:
        _check_circuit(circuit, program, settings)
    return circuit


def load_views(game: Game, settings: LoadSettings | None = None) -> _core.CircuitGame:
    """The circuit of a game once more, made to evaluate every proposition of a state.

    It reads the same states: its fluents must be those of the game, in the same order. They may
    stand in another order in split rules than in those as written, so both are tried.
    """
    settings = settings or LoadSettings()
    if not isinstance(game.core, _core.CircuitGame) or game.program is None:
        raise Unsupported(
            f"{game.name} is played by the interpreter, which does not know all of its "
            "propositions",
            file=game.file,
        )
    for rules in (game.program.split, game.program.as_written):
        try:
            circuit = _ground(rules, settings, settings.seconds, settings.instances, views=True)
        except _core.BudgetExceeded as error:
            raise BudgetExceeded(
                f"the circuit of all propositions would exceed the {error}", file=game.file
            ) from error
        if circuit.fluents == game.core.fluents and circuit.state_bytes == game.state_bytes:
            return circuit
    raise RulesError(
        f"{game.name} was not grounded as it was when it was loaded",
        file=game.file,
        hint="this is a fault of omnilude: please report it with the rulesheet",
    )


def _ground(
    rules: EncodedRules,
    settings: LoadSettings,
    seconds: float,
    instances: int,
    *,
    views: bool = False,
) -> _core.CircuitGame:
    return _core.CircuitGame.make(
        rules.symbols,
        rules.code,
        seconds,
        settings.memory,
        instances,
        settings.machine_code,
        settings.width,
        views,
    )


def _check_circuit(circuit: _core.CircuitGame, program: GdlProgram, settings: LoadSettings) -> None:
    """Random games by circuit and by interpreter; a difference is an error, never a wrong game."""
    try:
        _, _, difference = _core.cross_check(
            circuit,
            program.as_written.symbols,
            program.as_written.code,
            settings.check_playouts,
            settings.check_seconds,
            settings.memory,
            1,
        )
    except (_core.BudgetExceeded, MemoryError):
        return  # the interpreter is too slow for this game to be a witness
    if difference:
        raise RulesError(
            f"the compiled game differs from its rules: {difference}",
            file=program.file,
            hint="this is a fault of omnilude: please report it with the rulesheet; "
            "engine='interpreter' plays it meanwhile",
        )
