"""The run folder: whatever happens, the next start finds the last commit."""

import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from omnilude import load
from omnilude.errors import CheckpointError, SettingsError
from omnilude.networks import NetworkSettings, rules_fingerprint
from omnilude.training.records import describe_games
from omnilude.training.run import Run, load_metrics, load_settings, load_state
from omnilude.training.settings import TrainingSettings
from omnilude.training.targets import PolicyLayout, Targets, make_targets
from omnilude.training.thinning import thin
from test_training_targets import random_records

GAME = load("tic-tac-toe")
SETTINGS = TrainingSettings(kept_games=12, capacity=300, network=NetworkSettings())


class Killed(BaseException):
    """Stands for kill -9."""


def chunk(seed: int) -> Targets:
    return make_targets(random_records(seed, (3, 2), 4), PolicyLayout((3, 2)), surprise=False)


def step(run: Run, number: int) -> None:
    """What a trainer does between two commits, and the commit; the first is of weights alone."""
    state = run.state
    if not state.learner:
        run.commit({"network.weight": torch.zeros(2, 3)})
    targets = chunk(number)
    run.add_metrics({"iteration": number, "elapsed": float(number)})
    run.add_chunk(targets)
    run.add_games(describe_games(random_records(number, (3, 2), 4), 100))
    name = f"checkpoints/step-{number:08}"
    for ending in ("json", "0123.safetensors"):
        (run.folder / f"{name}.{ending}").write_text("x")
    run.add_checkpoint(name, elapsed=float(number), step=number)
    state.iteration = number
    state.positions += targets.positions
    state.elapsed = float(number)
    run.drop_chunks(40)
    run.commit({"network.weight": torch.full((2, 3), float(number))})


def check(folder: Path) -> int:
    """Everything that the folder says is there; returns the last committed iteration."""
    with Run(folder, GAME, SETTINGS) as run:
        state = run.state
        found = {p.relative_to(folder).as_posix() for p in folder.glob("*/*") if p.is_file()}
        stems = {name.rsplit("/", 1)[0] + "/" + Path(name).name.split(".")[0] for name in found}
        assert stems == {
            f"{Path(n).parent.as_posix()}/{Path(n).name.split('.')[0]}" for n in state.files()
        }
        assert not list(folder.glob(".*.part"))
        assert not list(folder.glob("*/.*.part"))
        lines = load_metrics(folder)
        assert [line["iteration"] for line in lines] == list(range(1, state.iteration + 1))
        if not run.resumed:
            assert state.iteration == 0
            return 0
        weights = run.load_tensors()["network.weight"]
        assert weights.tolist() == [[float(state.iteration)] * 3] * 2
        chunks = list(run.load_chunks())
        wanted = [chunk(k) for k in range(1, state.iteration + 1)][-len(chunks) :]
        for one, other in zip(chunks, wanted, strict=True):
            for name, array in one.arrays().items():
                assert (array == other.arrays()[name]).all(), name
        assert sum(c.positions for c in wanted) >= min(40, state.positions)
        for kept in state.kept_games:
            lines = gzip.decompress((folder / kept["file"]).read_bytes()).splitlines()
            assert len([json.loads(line) for line in lines]) == kept["games"]
        assert len(state.checkpoints) == state.iteration
        return state.iteration


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    real = os.replace
    folder = tmp_path / "run"
    committed, crashes, allowed = 0, 0, 0

    def dying(source: str, target: str) -> None:
        nonlocal allowed
        allowed -= 1
        if allowed < 0:
            if when == "after":
                real(source, target)
            # A killed process does not tidy up.
            (Path(target).parent / f".{Path(target).name}.1-1.part").write_bytes(b"half")
            raise Killed
        real(source, target)

    for attempt in range(26):
        allowed = attempt % 11
        monkeypatch.setattr(os, "replace", dying)
        try:
            with Run(folder, GAME, SETTINGS) as run:
                for number in range(run.state.iteration + 1, run.state.iteration + 3):
                    step(run, number)
                    committed = number
        except Killed:
            crashes += 1
        finally:
            monkeypatch.setattr(os, "replace", real)
        reached = check(folder)
        # At most the commit that was under way is lost, and none that was made.
        assert committed <= reached <= committed + 1
        committed = reached
    assert crashes > 10
    assert committed > 5


def test_files_stay_bounded(tmp_path: Path) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        for number in range(1, 45):
            step(run, number)
        assert len(list((tmp_path / "state").iterdir())) == 1
        assert sum(kept["games"] for kept in run.state.kept_games) <= 12 + 4
        kept = [one for one in run.state.checkpoints if one["file"]]
        assert 20 <= len(kept) <= 30
        assert len(run.state.checkpoints) == 44
        assert kept[-1]["step"] == 44
        assert sum(c["positions"] for c in run.state.replay) < 40 + 30
    assert check(tmp_path) == 44


def test_settings_may_not_change_but_budgets_may(tmp_path: Path) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        step(run, 1)
    with pytest.raises(SettingsError, match="learning_rate"):
        Run(tmp_path, GAME, replace(SETTINGS, learning_rate=1.0))
    with pytest.raises(SettingsError, match="simulations is 5"):
        Run(tmp_path, GAME, replace(SETTINGS, search=replace(SETTINGS.search, simulations=5)))
    longer = replace(SETTINGS, minutes=99.0, workers=7, assess_games=3, assess_simulations=4)
    with Run(tmp_path, GAME, longer) as run:
        assert run.resumed
    assert load_settings(tmp_path) == longer
    with Run(tmp_path, GAME, None) as run:
        assert run.settings == longer
    # What 'auto' stands for was found when the run began.
    with Run(tmp_path, GAME, replace(longer, network=NetworkSettings(preset="auto"))) as run:
        assert run.settings == longer


def test_another_game_is_refused(tmp_path: Path) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        step(run, 1)
    other = load("connect-four")
    with pytest.raises(CheckpointError, match="other rules") as raised:
        Run(tmp_path, other, SETTINGS)
    for game in (GAME, other):
        assert f"of {game.name} ({rules_fingerprint(game)[:12]})" in str(raised.value)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(SettingsError, match="not a run folder"):
        Run(tmp_path, GAME, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "tower"
    file.write_text("a drawing")
    with pytest.raises(SettingsError, match="is a file"):
        Run(file, GAME, SETTINGS)
    with pytest.raises(SettingsError, match="cannot write in"):
        Run(file / "run", GAME, SETTINGS)
    assert file.read_text() == "a drawing"


def test_two_processes_never_train_the_same_run(tmp_path: Path) -> None:
    program = (
        "import sys, fcntl, time; file = open(sys.argv[1], 'a+b'); fcntl.flock(file, 2);"
        "file.write(b'%d' % __import__('os').getpid()); file.flush();"
        "print('held', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lock")], stdout=subprocess.PIPE
    )
    try:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(SettingsError, match=f"process {other.pid}"):
            Run(tmp_path, GAME, SETTINGS)
    finally:
        other.kill()
        other.wait()
        other.stdout.close()  # type: ignore[union-attr]
    # The lock of a killed process is stale.
    with Run(tmp_path, GAME, SETTINGS) as run, pytest.raises(SettingsError, match="being trained"):
        Run(run.folder, GAME, SETTINGS)
    assert load_state(tmp_path) is None


def read_all(folder: Path) -> tuple[object, ...]:
    """All that the next start reads."""
    with Run(folder, GAME, SETTINGS) as run:
        weights = {name: tensor.tolist() for name, tensor in run.load_tensors().items()}
        chunks = [
            {name: array.tolist() for name, array in chunk.arrays().items()}
            for chunk in run.load_chunks()
        ]
        return asdict(run.state), weights, chunks, load_metrics(folder)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda _: b"",
    "overwritten": lambda content: b"\xff" * len(content),
    "something else": lambda content: b"[1, 2]\n".ljust(len(content) - 1) + b"\n",
}


# Less of the settings or of the metrics is as good a file.
@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        *product(["state.json", "state", "replay"], DAMAGES),
        *product(["metrics.jsonl", "settings.toml"], ["overwritten", "something else"]),
        *product(["state.json", "settings.toml", "state", "replay"], ["missing"]),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, kind: str, damage: str) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        step(run, 1)
    path = tmp_path / kind
    path = next(path.iterdir()) if path.is_dir() else path
    if damage in DAMAGES:
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    else:
        path.unlink()
    with pytest.raises((CheckpointError, SettingsError)) as raised:
        read_all(tmp_path)
    assert path.name in str(raised.value)


def test_no_damage_goes_unnoticed(tmp_path: Path) -> None:
    """Bytes flipped anywhere: refused by name, or what was written comes back."""
    with Run(tmp_path, GAME, SETTINGS) as run:
        step(run, 1)
    expected = read_all(tmp_path)
    folders = (tmp_path / "state", tmp_path / "replay")
    paths = [tmp_path / "state.json", *(next(folder.iterdir()) for folder in folders)]
    chooser, refused = random.Random(0), 0
    for trial in range(45):
        path = paths[trial % 3]
        content = path.read_bytes()
        damaged = bytearray(content)
        damaged[chooser.randrange(len(damaged))] ^= 1 << chooser.randrange(8)
        path.write_bytes(damaged)
        try:
            found = read_all(tmp_path)
        except CheckpointError as error:
            named, refused = path.name in str(error), refused + 1
        else:
            named = found == expected
        assert named, path
        path.write_bytes(content)
    assert refused > 30


def test_runs_of_older_versions_are_read(tmp_path: Path) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        step(run, 1)
        assert not run.warning
    path, settings = tmp_path / "state.json", tmp_path / "settings.toml"
    state = json.loads(path.read_bytes())
    assert (state["omnilude"], state["game"]) == (version("omnilude"), GAME.name)
    settings.write_text(settings.read_text().replace("policy_temperature = 1.5\n", ""))
    with Run(tmp_path, GAME, None) as run:
        assert run.settings == SETTINGS
        assert f"begun by omnilude {version('omnilude')}, without policy_temperature" in run.warning
    with Run(tmp_path, GAME, None) as run:  # now the file has it
        assert not run.warning
    for name in ("omnilude", "game", "learner_sha256", "checksum"):
        del state[name]
    path.write_text(json.dumps(state))
    settings.write_text(settings.read_text().replace("policy_temperature = 1.5\n", ""))
    with Run(tmp_path, GAME, None) as run:
        assert run.load_tensors()
        assert "begun by an older omnilude" in run.warning


def test_what_users_do_to_a_folder_does_no_harm(tmp_path: Path) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        step(run, 1)
    (tmp_path / "checkpoints" / "exported").mkdir()
    (tmp_path / "checkpoints" / "best.json").write_text("mine")
    (tmp_path / "checkpoints" / "step-00000099.json").write_text("left by a killed process")
    (tmp_path / "metrics.jsonl").unlink()
    with Run(tmp_path, GAME, None) as run:
        run.add_metrics({"iteration": 2})
    assert [line["iteration"] for line in load_metrics(tmp_path)] == [2]
    assert (tmp_path / "checkpoints" / "exported").is_dir()
    assert (tmp_path / "checkpoints" / "best.json").read_text() == "mine"
    assert not (tmp_path / "checkpoints" / "step-00000099.json").exists()


def test_positions_laid_out_otherwise_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        step(run, 1)
    monkeypatch.setattr("omnilude.networks.checkpoint.layout_fingerprint", lambda _: "other")
    with pytest.raises(CheckpointError, match="fluents and moves in another order"):
        Run(tmp_path, GAME, None)


def test_chunks_hold_the_arrays_of_targets_and_nothing_else(tmp_path: Path) -> None:
    with Run(tmp_path, GAME, SETTINGS) as run:
        run.add_chunk(chunk(1))
        with np.load(tmp_path / run.state.replay[0]["file"]) as arrays:
            assert set(arrays.files) == {field.name for field in fields(Targets)}


def test_thinning_keeps_ends_and_spreads() -> None:
    times: list[float] = []
    for now in range(500):
        times.append(float(now))
        dropped = set(thin(times, 25))
        times = [time for k, time in enumerate(times) if k not in dropped]
    assert times[0] == 0.0
    assert times[-1] == 499.0
    assert len(times) == 25
    gaps = np.diff(times)
    assert gaps.max() <= 8 * gaps.min() * 4
