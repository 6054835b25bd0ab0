"""Run folders from which files are missing, or whose metrics are damaged: told before anything is
written, and told apart from what a run that was killed before its first commit leaves behind."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from omnilude import load
from omnilude.errors import CheckpointError, SettingsError
from omnilude.training.loop import train
from omnilude.training.run import Run, load_metrics, load_settings, load_state
from test_training import QUICK
from test_training_run import GAME, SETTINGS, step

OWN = ("state", "replay", "games", "checkpoints")


def make_run(folder: Path, steps: int = 3) -> Path:
    with Run(folder, GAME, SETTINGS) as run:
        for number in range(1, steps + 1):
            step(run, number)
    return folder


def read_files(folder: Path) -> dict[str, bytes]:
    """All but the lock and what TensorBoard writes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock" and path.parent.name != "tensorboard"
    }


@pytest.mark.parametrize("name", ["state.json", "settings.toml"])
@pytest.mark.parametrize("gone", [(), OWN[:3], ("replay", "games", "checkpoints")])
@pytest.mark.parametrize("other", [False, True])
def test_a_run_that_lost_a_file_is_left_alone(
    tmp_path: Path, name: str, gone: tuple[str, ...], other: bool
) -> None:
    """Whatever else is left of it, and whichever game comes."""
    make_run(tmp_path)
    (tmp_path / name).unlink()
    for folder in gone:
        shutil.rmtree(tmp_path / folder)
    before = read_files(tmp_path)
    game = load("kuhn-poker") if other else GAME
    for settings in (None, SETTINGS):
        with pytest.raises(CheckpointError, match=rf"{name} is missing, but .* is there"):
            Run(tmp_path, game, settings)
        assert read_files(tmp_path) == before


def test_readers_of_a_run_name_the_file_that_is_missing(tmp_path: Path) -> None:
    make_run(tmp_path)
    readers: dict[str, Callable[[Path], Any]] = {
        "state.json": load_state,
        "settings.toml": load_settings,
    }
    for name, read in readers.items():
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        with pytest.raises(CheckpointError, match=name):
            read(tmp_path)
        (tmp_path / name).write_bytes(content)
        assert read(tmp_path) is not None
        assert read(tmp_path / "nowhere") is None


def test_settings_alone_begin_a_run(tmp_path: Path) -> None:
    make_run(tmp_path / "old")
    (tmp_path / "new" / "checkpoints").mkdir(parents=True)
    shutil.copy(tmp_path / "old" / "settings.toml", tmp_path / "new")
    (tmp_path / "new" / "checkpoints" / "best.json").write_text("the user's")
    with Run(tmp_path / "new", GAME, None) as run:
        assert run.settings == SETTINGS
        assert not run.resumed
    assert (tmp_path / "new" / "checkpoints" / "best.json").is_file()


def test_the_rules_are_written_again(tmp_path: Path) -> None:
    """Only who plays needs them: that they are the same is said by state.json."""
    rules = make_run(tmp_path) / "rules.kif"
    text = rules.read_text()
    rules.unlink()
    with pytest.raises(CheckpointError, match="other rules"):
        Run(tmp_path, load("kuhn-poker"), None)
    assert not rules.exists()
    with Run(tmp_path, GAME, None) as run:
        assert run.resumed
    assert rules.read_text() == text


def test_whatever_a_kill_leaves_the_next_start_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder as it was at each step of a run opens again, first of all those of its beginning and
    of its first commit. Without its state.json it is left alone, unless nothing was played yet."""
    folder, moments = tmp_path / "run", list[Path]()
    latest: dict[str, bytes] = {}

    def keep() -> None:
        nonlocal latest
        latest, before = read_files(folder), latest
        if latest != before:
            moments.append(tmp_path / f"moment-{len(moments)}")
            shutil.copytree(folder, moments[-1], ignore=shutil.ignore_patterns("tensorboard"))

    def watch(real: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **named: Any) -> Any:
            keep()
            result = real(*given, **named)
            keep()
            return result

        return watched

    with monkeypatch.context() as patches:
        for name in ("fsync", "replace", "unlink"):
            patches.setattr(os, name, watch(getattr(os, name)))
        train(GAME, folder, replace(QUICK, positions=200, workers=1, checkpoint_minutes=1e-9))
    counts = dict.fromkeys(("begins", "goes on", "begins again", "left alone"), 0)
    for moment in moments:
        stripped = shutil.copytree(moment, tmp_path / "stripped")
        state = load_state(moment)
        with Run(moment, GAME, QUICK if state is None else None) as run:
            assert run.resumed == (moment / "state.json").is_file() == (state is not None)
            counts["goes on" if run.resumed else "begins"] += 1
            if run.resumed:
                run.load_tensors()
                assert sum(chunk.positions for chunk in run.load_chunks()) == run.state.positions
        if state is not None:
            (stripped / "state.json").unlink()
            before, said = read_files(stripped), ""
            try:
                Run(stripped, GAME, None).close()
            except CheckpointError as error:
                said = str(error)
            if said:
                assert "state.json is missing" in said
                assert read_files(stripped) == before
            else:
                assert not state.positions
            counts["left alone" if said else "begins again"] += 1
        shutil.rmtree(stripped)
    assert all(counts.values()), counts


# --- metrics ---


def test_a_damaged_line_is_told_when_the_run_is_opened(tmp_path: Path) -> None:
    path = make_run(tmp_path) / "metrics.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for wrong in (b"{'iteration': 2}", b"[1, 2]", b"3", b"", b"\xff\xfe"):
        path.write_bytes(lines[0] + wrong.ljust(len(lines[1]) - 1) + b"\n" + lines[2])
        before = read_files(tmp_path)
        with pytest.raises(CheckpointError, match=r"metrics\.jsonl is damaged .* line 2 is not"):
            Run(tmp_path, GAME, None)
        assert read_files(tmp_path) == before
    path.write_bytes(lines[0] + lines[2])  # as the message says
    with Run(tmp_path, GAME, None) as run:
        run.add_metrics({"iteration": 4})
    assert [line["iteration"] for line in load_metrics(tmp_path)] == [1, 3, 4]


def test_what_comes_after_the_last_commit_may_be_anything(tmp_path: Path) -> None:
    path = make_run(tmp_path) / "metrics.jsonl"
    with path.open("ab") as file:
        file.write(b'{"iteration": 4}\n\x00\xff\n{"itera')
    with Run(tmp_path, GAME, None) as run:
        run.add_metrics({"iteration": 5})
    assert [line["iteration"] for line in load_metrics(tmp_path)] == [1, 2, 3, 5]


@pytest.mark.parametrize("cut", range(0, 80, 7))
def test_a_half_written_last_line_is_dropped(tmp_path: Path, cut: int) -> None:
    """Also where the file is shorter than at the last commit: what follows is a line of its own."""
    path = make_run(tmp_path) / "metrics.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:cut])
    kept = content[:cut].count(b"\n")
    with Run(tmp_path, GAME, None) as run:
        run.add_metrics({"iteration": 9})
    expected = [*range(1, kept + 1), 9]
    assert [line["iteration"] for line in load_metrics(tmp_path)] == expected
    assert json.loads(path.read_bytes().splitlines()[-1]) == {"iteration": 9}


def test_a_folder_of_something_else_is_still_told_apart(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "notes.txt").touch()
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(SettingsError, match="not a run folder, and not empty"):
        Run(tmp_path, GAME, None)
