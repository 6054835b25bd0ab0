"""Where rulesheets are found: bundled games by name, others by path."""

from __future__ import annotations

from pathlib import Path

from omnilude.errors import RulesError
from omnilude.spelling import did_you_mean

_INSTALLED = Path(__file__).resolve().parents[1] / "bundled"
_CHECKOUT = Path(__file__).resolve().parents[3] / "games"


def bundled_folder() -> Path:
    """The folder of the bundled rulesheets: in a checkout the sources themselves."""
    return _CHECKOUT if _CHECKOUT.is_dir() else _INSTALLED


def bundled_games(suffix: str = "") -> dict[str, Path]:
    """Bundled games by name, those of one language by the suffix of their files.

    A game that is described in both is called by its file in the second, as in othello.lud.
    """
    folder = bundled_folder()
    games = {path.stem: path for path in folder.glob("*.kif")}
    for path in folder.glob("*.lud"):
        games[path.name if path.stem in games else path.stem] = path
    return {name: path for name, path in sorted(games.items()) if path.suffix.endswith(suffix)}


def definitions_folder() -> Path:
    """Our own definitions that ludemic descriptions may use."""
    return bundled_folder() / "definitions"


def find_rulesheet(name_or_path: str | Path) -> Path:
    """The file of a bundled game or of a path."""
    games = bundled_games()
    if str(name_or_path) in games:
        return games[str(name_or_path)]
    path = Path(name_or_path)
    if path.is_file():
        return path
    question = did_you_mean(str(name_or_path), games)
    hint = question or "'omnilude games' lists the bundled ones"
    raise RulesError("no such game or file", file=str(name_or_path), hint=hint)


def read_rulesheet(path: Path) -> str:
    try:
        # Public rulesheets are not always valid UTF-8, but only comments suffer.
        return path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise RulesError(f"cannot be read: {error.strerror}", file=str(path)) from error
