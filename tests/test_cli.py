"""The command line, as a user meets it."""

import errno
import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from matplotlib.image import imread
from rich.console import Console
from typer.testing import CliRunner, Result

import omnilude
from omnilude import benchmarks
from omnilude.cli import app, learning
from omnilude.cli.demo import choose_folder
from omnilude.cli.options import apply_changes
from omnilude.cli.shared import print_commands
from omnilude.errors import SettingsError
from omnilude.rules.library import bundled_games
from omnilude.training import estimate, processes
from omnilude.training.baselines import BASELINES
from omnilude.training.display import panel
from omnilude.training.progress import Status
from omnilude.training.run import RunState, find_folder
from omnilude.training.settings import TrainingSettings
from omnilude.training.toml import write_toml

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
    commands = "games check perft playout encode symmetries train match rate export bench demo"
    for command in commands.split():
        assert command in output
        assert "--help" in run(command, "--help").output
    assert "--help" in run("bench", "train", "--help").output


def test_nothing_heavy_is_imported_for_small_commands() -> None:
    code = """
import sys
from omnilude.cli import app
for arguments in (["--help"], ["games"], ["train", "--help"], ["bench", "no-such-game"]):
    try:
        app(arguments)
    except SystemExit:
        pass
heavy = {"torch", "matplotlib", "onnx", "onnxruntime", "tensorboard", "igraph"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True)


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


# --- learning: one tiny run for all ---

TINY = (
    "--minutes 0 --positions 1000 --preset tiny --simulations 4 --games-per-worker 16 --workers 1 "
    "--iteration-positions 300 --batch-size 32 --replay-ratio 0.5 --checkpoint-minutes 0.0005 "
    "--assess-minutes 0.0005 --assess-games 2 --assess-simulations 2 --no-augment --engine onnx"
).split()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    output = run("train", "tic-tac-toe", "--run", str(folder), *TINY).output
    for text in ("positions a second", "mean score, random", "report.html", "What to try next"):
        assert text in output
    assert "2 simulations a move, without playouts from leaves" in " ".join(output.split())
    return folder


def test_train_goes_on_and_keeps_its_settings(trained: Path) -> None:
    output = run("train", "tic-tac-toe", "--run", str(trained)).output
    assert "is done" in " ".join(output.split())
    wrong = run("train", "tic-tac-toe", "--run", str(trained), "--batch-size", "64", code=1).output
    assert "batch_size is 64, but the run began with 32" in " ".join(wrong.split())
    assert "other rules" in run("train", "hex-7x7", "--run", str(trained), code=1).output


def test_train_refuses_settings_that_make_no_sense(tmp_path: Path) -> None:
    for wrong, message in (
        ("--family=cnn", "family"),
        ("--value-mix=2", "between 0 and 1"),
        ("--engine=steam", "onnx-int8"),
        ("--playout-weight=0.5", "give their number"),
        ("--baseline=uct", "gaz or p3"),
    ):
        run_ = ("train", "tic-tac-toe", "--run", str(tmp_path / "x"), wrong)
        assert message in run(*run_, code=1).output
        assert not (tmp_path / "x").exists()


def test_settings_that_are_misspelt_are_told() -> None:
    with pytest.raises(SettingsError, match=r"no setting 'simulatons', .*mean 'simulations'"):
        apply_changes(TrainingSettings(), {"simulatons": 8})


def test_a_full_disk_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def fsync(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) > 20:  # in the middle of a run
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    folder = tmp_path / "full"
    output = run("train", "tic-tac-toe", "--run", str(folder), *TINY, code=1).output
    assert "error: cannot write: No space left on device" in output
    assert (folder / "state.json").is_file()  # it was under way


def test_files_that_cannot_be_written_are_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    file, empty = str(tmp_path / "file" / "x"), str(tmp_path / "empty")
    Path(empty).mkdir()
    folders = (empty, "--descriptions", empty, "--definitions", empty)
    for command in (
        ("match", "random", "random", "--game=tower", "--together", "--games=2", "--output", file),
        ("bench", "tic-tac-toe", "--rounds=1", "--seconds=0.01", "--output", file),
        ("encode", "tic-tac-toe", "--png", file),
        ("replay", *folders, "--output", file),
    ):
        output = " ".join(run(*command, code=1).output.split())
        assert "error: cannot read or write" in output, command
        assert "Not a directory" in output or "File exists" in output


def test_workers_that_die_are_told_with_what_they_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = processes.ProcessSelfPlay._start

    def start_broken(self: processes.ProcessSelfPlay, number: int) -> None:
        self._tasks[number] = replace(self._tasks[number], layout="of another game")
        start(self, number)

    monkeypatch.setattr(processes.ProcessSelfPlay, "_start", start_broken)
    monkeypatch.setattr(processes, "MOST_DEATHS", 0)
    options = ("--run", str(tmp_path / "run"), *TINY, "--backend", "processes")
    result = CliRunner().invoke(app, ["train", "tic-tac-toe", *options])
    assert result.exit_code == 1
    output = " ".join(result.output.split())
    assert "worker 0 keeps dying (RuntimeError: the worker has read fluents" in output
    assert output.count("Traceback") == 1  # that of the worker: no fault of whoever reads it


def test_the_panel_of_a_run_fits_a_terminal() -> None:
    status = Status(
        game="connect-four", phase="self-play", elapsed=83, seconds_left=517, progress=0.13,
        iteration=123, games=123_456, positions=2_345_678, steps=12_345, rate=3456,
        play_rate=15_678, search_share=0.45, cache_hits=0.32, engine="onnx-int8", window=1_000_000,
    )  # fmt: skip
    for width in (80, 100):
        console = Console(width=width, force_terminal=True, color_system="truecolor")
        rendered = console.render_lines(panel(status))
        lines = ["".join(segment.text for segment in line).rstrip() for line in rendered]
        assert [line.split()[0].strip("━╸╺") for line in lines] == [
            "Training", "", "elapsed", "games", "positions/s", "iteration", "steps",
        ]  # fmt: skip
        assert lines[2].endswith("8:37")


def test_playouts_that_are_given_are_not_found_out() -> None:
    defaults = TrainingSettings()
    assert defaults.auto_playouts
    given = apply_changes(defaults, {"playouts": 8, "playout_weight": 0.25})
    assert not given.auto_playouts
    assert (given.search.playouts, given.search.playout_weight) == (8, 0.25)
    assert apply_changes(defaults, {"playouts": 8, "auto_playouts": True}).auto_playouts
    assert apply_changes(defaults, {"minutes": 1.0}).auto_playouts


def test_runs_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_folder("tower") == Path("runs/tower")
    assert find_folder("elsewhere/tower") == Path("elsewhere/tower")
    Path("tower").mkdir()
    assert find_folder("tower") == Path("tower")  # the only one of that name
    Path("runs/tower").mkdir(parents=True)
    assert find_folder("tower") == Path("runs/tower")


def test_a_run_without_a_name_is_that_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else has its name in the folder where somebody works."""
    monkeypatch.chdir(tmp_path)
    Path("tic-tac-toe").write_text("a list of openings")
    options = (*TINY, "--positions", "200", "--assess-minutes", "0")
    run("train", "tic-tac-toe", *options)
    assert Path("runs/tic-tac-toe/settings.toml").is_file()


def test_wrong_opponents_are_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = run("train", "tic-tac-toe", *TINY, "--opponents", "random, uct:x", code=1).output
    assert "uct:x" in output
    assert not Path("runs").exists()


def test_train_by_the_settings_of_a_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, dict[str, Any]]] = []

    def train_player(console: Any, game: Any, folder: Path, changes: Any, opponents: str) -> None:
        asked.append((folder, changes))
        raise SettingsError("enough")

    monkeypatch.setattr(learning, "train_player", train_player)
    run("train", "tic-tac-toe", "--baseline", "p3", "--simulations", "8", "--augment", code=1)
    ((folder, changes),) = asked
    assert folder == Path("runs/tic-tac-toe-p3")
    settings = apply_changes(TrainingSettings(), changes)
    assert (settings.network.family, settings.encoding) == ("p3", "planes")
    assert (settings.search.root, settings.value_loss) == ("puct", "mse")
    assert settings.search.simulations == 8  # what is given counts
    assert settings.augment
    assert BASELINES["gaz"] == {**BASELINES["p3"], "family": "gaz", "encoding": "propositions"}


def test_a_baseline_learns_and_plays(tmp_path: Path) -> None:
    folder = tmp_path / "gaz"
    options = (*TINY, "--positions", "300", "--assess-minutes", "0")
    output = run("train", "tic-tac-toe", "--run", str(folder), "--baseline", "gaz", *options).output
    assert f"omnilude match {folder} uct:1000" in output
    file = tmp_path / "match.json"
    run("match", f"{folder}:sims=4", "random", "--games", "2", "--output", str(file))
    search = json.loads(file.read_text())["players"][0]["search"]
    assert (search["root"], search["first_play"], search["solver"]) == ("puct", "zero", False)


def test_match_finds_the_game_of_a_run(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    players = (f"{trained}:sims=4", "random")
    output = run("match", *players, "--games", "4", "--output", str(file)).output
    assert "4 games" in output
    assert "as x" in output
    saved = json.loads(file.read_text())
    assert saved["tallies"]["random"]["all"]["games"] == 4
    assert saved["settings"]["seed"] == 0


def test_match_of_players_without_a_run(tmp_path: Path) -> None:
    output = run("match", "uct:20", "random", "--game", "tower", "--games=4", "--together").output
    assert "as builder1" in output
    output = run(
        "match", "uct:5", "random", "--game=pacman-3p", "--games=2", "--roles=pacman"
    ).output
    assert "as pacman" in output
    assert "which game?" in run("match", "random", "random", code=1).output
    misspelt = run("match", "runs/conect-four", "uct:10", code=1).output
    assert "there is no player 'runs/conect-four'" in misspelt
    assert "no player 'x'" in run("match", "x", "random", "--game", "tower", code=1).output


@pytest.mark.parametrize(
    "command",
    [
        ("export", "tic-tac-to", "--onnx"),
        ("export", ".", "--onnx"),
        ("match", ".", "uct:10"),
        ("match", "/", "uct:10", "--game", "tic-tac-toe"),
    ],
)
def test_what_is_no_run_is_told(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "there is no run" in run(*command, code=1).output


def test_what_was_meant_is_told(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").symlink_to(trained.parent)
    for command, meant in (
        (("export", "tiy", "--onnx"), "runs/tiny"),
        (("rate", "runs/tinny"), "runs/tiny"),
        (("match", "tinny", "random", "--game=tic-tac-toe"), "runs/tiny"),
        (("match", "tiny:simz=10", "random"), "sims"),
    ):
        output = " ".join(run(*command, code=1).output.split())
        assert f"did you mean '{meant}'?" in output, command
        assert len(output) < 200


def test_a_player_of_another_game_is_told(trained: Path) -> None:
    output = run("match", str(trained), "uct:10", "--game", "connect-four", code=1).output
    assert "has learned other rules: tic-tac-toe, not connect-four" in " ".join(output.split())


def test_commands_are_suggested_where_they_work(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def suggest(game: str) -> str:
        commands = learning.suggest_commands(omnilude.load(game), trained)
        return " ".join(command.split()[0] for command, _ in commands)

    assert suggest("tic-tac-toe") == "match rate export"
    assert suggest("tower") == "match export"
    monkeypatch.setattr(learning, "list_checkpoints", lambda _: {5: Path("step-5")})
    assert suggest("tic-tac-toe") == "match export"


def test_suggested_commands_are_aligned() -> None:
    file = io.StringIO()
    print_commands(Console(file=file, width=80), [("games", "one"), ("match a b", "another")])
    assert file.getvalue() == "omnilude games       one\nomnilude match a b   another\n"


def test_rate(trained: Path) -> None:
    options = "--games 2 --checkpoints 2 --sims 2 --anchors".split()
    output = run("rate", str(trained), *options, "random").output
    assert "Elo" in output
    assert "effective" in output
    (line,) = (line.split() for line in output.splitlines() if line.startswith(" random"))
    assert line[-2] == "4"  # two against each of two checkpoints, whether they repeat or not
    twice = run("rate", str(trained), *options, "random, random", code=1).output
    assert "random more than once" in twice
    assert (trained / "ratings.png").is_file()
    assert "not the folder of a run" in run("rate", str(trained.parent), code=1).output


def test_export(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "player.onnx"
    output = run("export", str(trained), "--onnx", str(file)).output
    assert "logits [n, 20]" in output
    assert file.stat().st_size > 1000
    elsewhere = tmp_path / "new" / "player.onnx"
    run("export", str(trained), "--onnx", str(elsewhere))
    assert elsewhere.read_bytes() == file.read_bytes()
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / "rules.kif").unlink()  # by which moves have their names
    assert "logits [n, 20]" in run("export", str(copy), "--onnx", str(elsewhere)).output
    assert elsewhere.stat().st_size < file.stat().st_size
    folder = tmp_path / "folder.onnx"
    folder.mkdir()
    output = run("export", str(trained), "--onnx", str(folder), code=1).output
    assert f"cannot read or write {folder}: Is a directory" in output.replace("\n", "")


def test_export_without_a_file(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("export", str(trained), "--onnx")
    checkpoint = max((trained / "checkpoints").glob("*.json"))
    run("export", "--onnx", "--", str(checkpoint))
    game = omnilude.load("tic-tac-toe")
    for file in (trained / "player.onnx", tmp_path / f"{checkpoint.stem}.onnx"):
        metadata = {entry.key: entry.value for entry in onnx.load(file).metadata_props}
        moves = json.loads(metadata["moves"])
        assert list(moves) == ["x", "o"]  # in the order of the values
        assert moves["o"] == [str(game.move("o", slot)) for slot in range(game.slots("o"))]
    assert "requires" in run("export", str(trained), "--step", code=2).output


def test_encode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "planes.png"
    output = run("encode", "tic-tac-toe", "--png", str(file), "--plies", "3").output
    assert "(cell _ _ x)" in output
    assert file.read_bytes().startswith(b"\x89PNG")
    monkeypatch.chdir(tmp_path)
    run("encode", "tic-tac-toe", "--png")
    (tmp_path / "tic-tac-toe.png").unlink()
    run("encode", "tic-tac-toe", "--png", "--plies", "3")
    assert (tmp_path / "tic-tac-toe.png").read_bytes() == file.read_bytes()
    assert "flat" in run("encode", "tic-tac-toe", "--kind", "propositions").output
    assert "planes, propositions" in run("encode", "tic-tac-toe", "--kind", "x", code=1).output


def test_pictures_of_encodings_show_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        "drawn after 4 random moves: tic-tac-toe.png"
        in run("encode", "tic-tac-toe", "--png").output
    )
    white = (imread("tic-tac-toe.png")[..., :3] == 1).all(axis=2)
    drawn = (~white.all(axis=1)).sum() * (~white.all(axis=0)).sum()
    assert drawn > white.size / 3  # with all the gaps between what is drawn
    width = (~white.all(axis=0)).nonzero()[0]
    assert width[-1] - width[0] > 0.8 * white.shape[1]
    output = " ".join(run("encode", "kuhn-poker", "--png", "--plies", "10").output.split())
    assert "drawn after 3 random moves, the last position before the end" in output
    assert "drawn after 0 random moves:" in run("encode", "tower", "--png", "--plies", "0").output
    assert "give --png too" in run("encode", "tower", "--plies", "3", code=1).output


def test_symmetries() -> None:
    output = run("symmetries", "tic-tac-toe").output
    assert "16 symmetries" in output
    assert "x → o" in output


def test_bench_train() -> None:
    options = "--seconds 0.3 --no-processes --preset tiny --simulations 4"
    output = run("bench", "train", "tic-tac-toe", *options.split(), "--minutes", "2").output
    assert "A run of 2 minutes will play about" in " ".join(output.split())
    assert "tic-tac-toe on " in output
    assert not set("┏┃│") & set(output)


def test_bench_train_has_a_game_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate_training(game: omnilude.Game, *_: Any, **__: Any) -> None:
        raise SettingsError(f"this is {game.name}")

    monkeypatch.setattr(estimate, "estimate_training", estimate_training)
    assert "this is connect-four" in run("bench", "train", code=1).output


def test_demo_trains_plays_and_says_what_to_try(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    options = ("--minutes", "0.05", "--games", "2", "--pause", "0", "--run", str(folder))
    output = run("demo", *options).output
    assert output.count("1 2 3 4 5 6 7") > 7
    assert "The end" in output
    assert "taught itself" in output
    assert "omnilude check my-game.kif" in output
    assert (folder / "report.html").is_file()
    assert choose_folder(folder, 0.05, 1) == tmp_path / "demo-2"  # that one is done


def test_demo_goes_on_or_takes_the_next_folder(tmp_path: Path) -> None:
    def write_run(name: str, *, seed: int, elapsed: float) -> None:
        folder = tmp_path / name
        folder.mkdir()
        settings = TrainingSettings(minutes=2.0, seed=seed)
        (folder / "settings.toml").write_text(write_toml(settings))
        (folder / "state.json").write_text(json.dumps(asdict(RunState(elapsed=elapsed))))

    demo = tmp_path / "demo"
    assert choose_folder(demo, 2.0, 1) == demo
    write_run("demo", seed=1, elapsed=121.0)
    write_run("demo-2", seed=2, elapsed=60.0)
    assert choose_folder(demo, 2.0, 2) == tmp_path / "demo-2"  # interrupted
    assert choose_folder(demo, 2.0, 1) == tmp_path / "demo-3"
    assert choose_folder(demo, 5.0, 1) == tmp_path / "demo-3"  # longer, and from the beginning
    assert choose_folder(demo, 0.5, 2) == tmp_path / "demo-3"  # it had more than that


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
    assert "seconds must be above 0" in run("bench", "--seconds", "0", code=1).output


def test_rates_have_three_digits() -> None:
    rates = [35_612_345, 982_400, 1234, 77.14, 0.5]
    assert [benchmarks.format_rate(r) for r in rates] == [
        "35.6 M",
        "982 k",
        "1.23 k",
        "77.1",
        "0.50",
    ]
