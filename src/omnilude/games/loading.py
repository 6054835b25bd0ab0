"""From a name or path to a `Game`: the circuit where it can be had, else the interpreter."""

from __future__ import annotations

from pathlib import Path

from omnilude import _core
from omnilude.errors import BudgetExceeded, RulesError
from omnilude.games.game import Game
from omnilude.games.settings import LoadSettings
from omnilude.rules.gdl import GdlProgram, compile_gdl
from omnilude.rules.library import find_rulesheet, read_rulesheet


def load(name_or_path: str | Path, settings: LoadSettings | None = None) -> Game:
    """Loads a bundled game by name or a rulesheet by path."""
    path = find_rulesheet(name_or_path)
    return load_text(read_rulesheet(path), name=path.stem, file=str(path), settings=settings)


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
        except MemoryError:
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
    return Game(name, core, file=file, engine=engine, warnings=warnings, percepts=program.percepts)


def _make_circuit(program: GdlProgram, settings: LoadSettings) -> _core.CircuitGame:
    circuit = _core.CircuitGame.make(
        program.split.symbols,
        program.split.code,
        settings.seconds,
        settings.memory,
        settings.instances,
        settings.machine_code,
        settings.width,
    )
    if settings.check_playouts:
        _check_circuit(circuit, program, settings)
    return circuit


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
