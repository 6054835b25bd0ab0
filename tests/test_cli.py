"""The command line, as a user meets it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import omnilude
from omnilude import benchmarks
from omnilude.cli import app
from omnilude.rules.library import bundled_games

ENDLESS = (
    "(role a) (init p) (legal a go) (<= (next p) (does a go)) (<= terminal (true q)) (goal a 0)"
)


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def test_help_names_every_command() -> None:
    output = run("--help").output
    for command in ("games", "check", "perft", "playout", "bench", "demo"):
        assert command in output
        assert "--help" in run(command, "--help").output


def test_version() -> None:
    assert run("--version").output.strip() == f"omnilude {omnilude.__version__}"


def test_games_lists_all_that_are_bundled() -> None:
    output = run("games").output
    for name in bundled_games():
        assert name in output
    assert "6x7" in output
    assert "simultaneous" in output


def test_check_says_what_a_game_is() -> None:
    output = run("check", "pacman-3p").output
    assert "simultaneous" in output
    assert "8x8 cells" in output
    assert "pacman, blinky, inky" in output
    assert "playout gates" in output
    assert "no warnings" in output


def test_check_takes_a_path_and_warns(tmp_path: Path) -> None:
    rules = tmp_path / "endless.kif"
    rules.write_text(ENDLESS)
    output = run("check", str(rules)).output
    assert "64 of 64 random playouts did not end" in " ".join(output.split())


def test_check_of_an_interpreted_game() -> None:
    output = run("check", "tic-tac-toe", "--engine", "interpreter").output
    assert "interpreter" in output
    assert "gates" not in output


def test_bad_rules_are_shown_with_their_place(tmp_path: Path) -> None:
    rules = tmp_path / "bad.kif"
    rules.write_text("(role a)\n(<= (legal a ?x) (true b))\n")
    output = run("check", str(rules), code=1).output
    assert f"{rules}:2:" in output.replace("\n", "")
    assert "(<= (legal a ?x) (true b))" in output
    assert "hint:" in output


@pytest.mark.parametrize("command", ["check", "perft", "playout"])
def test_unknown_games_and_engines_are_errors(command: str) -> None:
    assert "did you mean 'connect-four'?" in run(command, "conect-four", code=1).output
    assert "engine must be" in run(command, "tic-tac-toe", "--engine", "steam", code=1).output


def test_perft() -> None:
    output = run("perft", "connect-four", "--depth", "5", "--no-machine-code").output
    assert "2,401" in output
    assert "16,807" in output
    assert "a second" in output


def test_playout_is_reproducible() -> None:
    def figures(*options: str) -> list[str]:
        output = run("playout", "connect-four", "-n", "3000", *options).output
        return [line for line in output.splitlines() if "speed" not in line]

    first = figures("--seed", "2")
    assert first == figures("--seed", "2", "--threads", "2")
    assert first != figures("--seed", "3")
    text = "\n".join(first)
    assert "red" in text
    assert "length: mean 2" in text
    assert "100:" in text


def test_playout_tells_of_playouts_that_were_cut() -> None:
    output = run("playout", "tic-tac-toe", "-n", "500", "--max-length", "5").output
    assert "cut" in output


def test_playout_shows_only_the_usual_goals_of_games_with_many() -> None:
    output = run("playout", "prisoners-dilemma", "-n", "500").output
    assert "other values" in output


def test_demo_plays_measures_and_says_what_to_try() -> None:
    output = run("demo", "--pause", "0").output
    assert output.count("1 2 3 4 5 6 7") > 7
    assert "The end" in output
    assert "1,000,000 random playouts" in output
    assert "playouts a second" in output or "OpenSpiel is not installed" in output
    assert "omnilude check my-game.kif" in output


def test_bench_writes_its_results(tmp_path: Path) -> None:
    file = tmp_path / "new" / "results.json"
    options = ("--rounds", "2", "--seconds", "0.01", "--output", str(file))
    output = run("bench", "tic-tac-toe", *options).output
    assert "tic-tac-toe" in output
    results = json.loads(file.read_text())
    (row,) = results["games"]
    assert row["playouts_per_second"]["portable"]["median"] > 0
    assert row["node_nanoseconds"]["median"] > 0
    assert results["settings"]["rounds"] == 2


def test_bench_without_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "import_openspiel", lambda: None)
    output = run("bench", "tic-tac-toe", "--rounds", "1", "--seconds", "0.01").output
    assert "OpenSpiel is not installed" in output


def test_bench_refuses_what_it_does_not_know() -> None:
    assert "there is no benchmark of 'chess'" in run("bench", "chess", code=1).output
    assert "positive" in run("bench", "--seconds", "0", code=1).output


def test_rates_have_three_digits() -> None:
    rates = [35_612_345, 982_400, 1234, 77.14, 0.5]
    assert [benchmarks.format_rate(r) for r in rates] == [
        "35.6 M",
        "982 k",
        "1.23 k",
        "77.1",
        "0.50",
    ]
