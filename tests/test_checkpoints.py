"""Checkpoints: what is saved comes back, what does not fit or is damaged is told and refused."""

import copy
import hashlib
import json
import random
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from omnilude.encoding import Encoding, make_encoding
from omnilude.errors import CheckpointError
from omnilude.games import Game
from omnilude.games.loading import load, load_text
from omnilude.networks import (
    Network,
    NetworkSettings,
    build_network,
    load_checkpoint,
    rules_fingerprint,
    save_checkpoint,
)
from omnilude.networks.checkpoint import delete_checkpoint
from omnilude.networks.files import write_atomically
from omnilude.networks.layout import StoredLayout
from test_networks import CONNECT_FOUR, SMALL, make_layout, random_rows, randomise

RULES = """
(role left) (role right)
(init (on 1 1 a))
(<= (legal ?r (say ?x)) (role ?r) (word ?x))
(word yes) (word no)
(<= (next (on 1 1 b)) (does left (say ?x)))
(<= terminal (true (on 1 1 b)))
(<= (goal ?r 100) (role ?r))
"""
SLOTS = (2, 2)


@cache
def game(text: str = RULES) -> Game:
    return load_text(text, name="talk")


def make_network(settings: NetworkSettings = SMALL["residual"], seed: int = 0) -> Network:
    torch.manual_seed(seed)
    return randomise(build_network(CONNECT_FOUR, SLOTS, settings), seed)


def same_weights(a: Network, b: Network) -> bool:
    first, second = a.state_dict(), b.state_dict()
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


def rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the JSON of a checkpoint and its checksum, as another program might write it."""
    document = json.loads(path.read_bytes())
    document.pop("checksum")
    change(document)
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    document["checksum"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(document))


# --- there and back ---


@pytest.mark.parametrize("settings", [*SMALL.values(), NetworkSettings(preset="tiny")], ids=str)
def test_what_is_saved_comes_back(settings: NetworkSettings, tmp_path: Path) -> None:
    network = make_network(settings)
    moments = {"first moment": torch.randn(3, 4), "steps": torch.tensor(7)}
    path = save_checkpoint(
        tmp_path / "runs" / "step.100",
        network,
        game(),
        step=100,
        extra={"minutes": 1.5, "ratings": [1, None, "x"]},
        tensors=moments,
    )
    assert path == tmp_path / "runs" / "step.100.json"
    for given in (path, path.with_suffix("")):
        checkpoint = load_checkpoint(given, game(), encoding=CONNECT_FOUR)
        assert same_weights(checkpoint.network, network)
        assert checkpoint.network.settings == settings
        assert checkpoint.network.slots == SLOTS
        assert checkpoint.step == 100
        assert checkpoint.game == "talk"
        assert checkpoint.rules == rules_fingerprint(game())
        assert checkpoint.extra == {"minutes": 1.5, "ratings": [1, None, "x"]}
        assert checkpoint.tensors.keys() == moments.keys()
        assert all(torch.equal(checkpoint.tensors[name], moments[name]) for name in moments)


def test_a_network_is_rebuilt_without_its_game(tmp_path: Path) -> None:
    network = make_network()
    path = save_checkpoint(tmp_path / "a", network, game())
    random_state = torch.get_rng_state()
    loaded = load_checkpoint(path).network
    assert torch.equal(torch.get_rng_state(), random_state)
    rows = torch.from_numpy(random_rows(CONNECT_FOUR, 4))
    torch.testing.assert_close(loaded(rows), network(rows))
    assert loaded.encoding.to_json() == CONNECT_FOUR.to_json()
    assert all(parameter.requires_grad for parameter in loaded.parameters())
    assert not any(parameter.is_meta for parameter in loaded.parameters())


def test_a_game_makes_its_encoding_itself(tmp_path: Path) -> None:
    board_game = load("tic-tac-toe")
    encoding = make_encoding(board_game)
    slots = [board_game.slots(player) for player in board_game.players]
    path = save_checkpoint(
        tmp_path / "a", build_network(encoding, slots, SMALL["residual"]), board_game
    )
    loaded = load_checkpoint(path, board_game).network
    assert isinstance(loaded.encoding, Encoding)
    logits, values = loaded(torch.from_numpy(encoding.encode(board_game.initial_states(2))))
    assert (logits.shape, values.shape) == ((2, sum(slots)), (2, 2))
    with pytest.raises(CheckpointError, match="other rules"):
        load_checkpoint(path, load("connect-four"))


def test_json_is_for_people(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "a", make_network(), game(), step=3)
    document = json.loads(path.read_bytes())
    assert (document["game"], document["step"], document["slots"]) == ("talk", 3, [2, 2])
    assert document["players"] == ["left", "right"]
    assert document["omnilude"] == version("omnilude")
    assert document["network"]["family"] == "residual"
    assert document["network"]["size"] == [8, 2]
    weights = safetensors.torch.load_file(tmp_path / document["weights"]["file"])
    assert all(name.startswith("network.") for name in weights)


def test_checkpoints_that_do_not_name_their_version_are_read(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "a", make_network(), game(), step=3)
    rewrite(path, lambda document: document.pop("omnilude"))
    assert load_checkpoint(path).step == 3


def test_saving_over_a_checkpoint_leaves_one(tmp_path: Path) -> None:
    other = save_checkpoint(tmp_path / "a.b", make_network(seed=5), game())
    (tmp_path / ".a.0123456789abcdef.safetensors.1-2.part").touch()  # of a writer that was killed
    for seed in (1, 2):
        path = save_checkpoint(tmp_path / "a", make_network(seed=seed), game(), step=seed)
    assert len(list(tmp_path.iterdir())) == 4
    assert load_checkpoint(path).step == 2
    assert same_weights(load_checkpoint(path).network, make_network(seed=2))
    assert same_weights(load_checkpoint(other).network, make_network(seed=5))
    delete_checkpoint(path)
    delete_checkpoint(path)
    assert len(list(tmp_path.iterdir())) == 2


def test_killed_between_the_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New weights are there, the new JSON is not: the old checkpoint is still whole."""
    path = save_checkpoint(tmp_path / "a", make_network(seed=1), game(), step=1)

    def killed(path: Path, content: bytes) -> None:
        if path.suffix == ".json":
            raise KeyboardInterrupt
        write_atomically(path, content)

    monkeypatch.setattr("omnilude.networks.checkpoint.write_atomically", killed)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(path, make_network(seed=2), game(), step=2)
    assert load_checkpoint(path).step == 1
    assert same_weights(load_checkpoint(path).network, make_network(seed=1))


def test_other_presets_later_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = make_network(NetworkSettings(preset="tiny"))
    path = save_checkpoint(tmp_path / "a", network, game())
    monkeypatch.setitem(NetworkSettings.size.fget.__globals__["PRESETS"], "tiny", (8, 3))  # type: ignore[attr-defined]
    assert same_weights(load_checkpoint(path).network, network)


# --- what identifies rules ---


def test_fingerprint_is_of_what_rules_say() -> None:
    fingerprint = rules_fingerprint(game())
    spaced = "; a comment\n" + RULES.replace(" ", "\n  ").replace("(<=", "( <=  ")
    assert rules_fingerprint(game(spaced)) == fingerprint
    assert rules_fingerprint(game(RULES.replace("100", "90"))) != fingerprint
    assert rules_fingerprint(game(RULES.replace("no", "maybe"))) != fingerprint


def test_fingerprints_of_bundled_games_differ() -> None:
    names = ("tic-tac-toe", "connect-four", "connect-four-3p")
    assert len({rules_fingerprint(load(name)) for name in names}) == 3


# --- what does not fit ---


def test_of_a_game_with_another_name_only_that_is_told(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "a", make_network(), game())
    with pytest.raises(CheckpointError) as raised:
        load_checkpoint(path, load("tic-tac-toe"))
    told = f"{path} has learned other rules: {game().name}, not tic-tac-toe"
    assert str(raised.value) == told


def test_another_game_is_told(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "a", make_network(), game())
    other = game(RULES.replace("(word no)", "(word no) (word maybe)"))
    with pytest.raises(CheckpointError) as raised:
        load_checkpoint(path, other, encoding=CONNECT_FOUR)
    assert "other rules" in str(raised.value)
    assert "(2, 2) there, (3, 3) here" in str(raised.value)
    assert "are the same" not in str(raised.value)
    goals = game(RULES.replace("100", "90"))
    with pytest.raises(CheckpointError, match="players, slots and encoding are the same"):
        load_checkpoint(path, goals, encoding=CONNECT_FOUR)
    # What was saved before players were, or names none, is not held against it.
    renamed = game(RULES.replace("left", "up"))
    for players, said in ((["left", "right"], True), ([], False)):
        rewrite(path, lambda document, x=players: document.update(players=x))  # type: ignore[misc]
        with pytest.raises(CheckpointError) as raised:
            load_checkpoint(path, renamed, encoding=CONNECT_FOUR)
        assert ("other players" in str(raised.value)) is said
        assert ("(left, right there, up, right here)" in str(raised.value)) is said


BOARD = """
(role me) (init (at 1 1)) (init (left 2))
(<= (legal me (go ?x ?y)) (size ?x) (size ?y))
(<= (next (at ?x ?y)) (does me (go ?x ?y)))
(<= (next (left 1)) (true (left 2)))
(<= (next (left 0)) (true (left 1)))
(<= terminal (true (left 0)))
(goal me 100)
(size 1) (size 2) (size 3)
"""


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (
            BOARD.replace("left", "todo"),
            ["3 of 12", "element 9", "(left 0) there", "(todo 0) here"],
        ),
        (
            BOARD.replace("(size 3)", "(size 3) (size 4)"),
            ["elements only here: 7, the first (at 1 4)"],
        ),
        (
            BOARD.replace("(left 0)", "(left none)"),
            [
                "element 9: (left 0) there, (left 1) here",
                "elements only there: 1, the first (left 0)",
                "elements only here: 1, the first (left none)",
            ],
        ),
    ],
    ids=["names", "board", "flat"],
)
def test_what_other_rules_show_is_named(rules: str, said: list[str], tmp_path: Path) -> None:
    one, other = game(BOARD), game(rules)
    network = build_network(make_encoding(one), (9,), SMALL["gaz"])
    path = save_checkpoint(tmp_path / "a", network, one)
    with pytest.raises(CheckpointError) as raised:
        load_checkpoint(path, other)
    for part in ["other rules", *said]:
        assert part in str(raised.value)


def changed_layout(layout: StoredLayout = CONNECT_FOUR, **change: Any) -> StoredLayout:
    """The layout with its first group changed."""
    description = copy.deepcopy(layout.to_json())
    description["groups"][0].update(change)
    return StoredLayout.from_json(description, "changed")


def test_sizes_that_a_checkpoint_makes_up_cost_nothing(tmp_path: Path) -> None:
    """Elements are named where they differ, but not more of them than there can be."""
    path = save_checkpoint(tmp_path / "a", make_network(), game())
    for shape in ([10**9, 10**9], [-1, -42], [10**30, 0], [1] * 100, []):
        rewrite(path, lambda document, x=shape: document["encoding"]["groups"][0].update(shape=x))  # type: ignore[misc]
        other = StoredLayout.from_json(CONNECT_FOUR.to_json(), "x")
        with pytest.raises(CheckpointError, match="other planes"):
            load_checkpoint(path, game(), encoding=other)
    for axes in (7, [{"labels": 3}], [{"labels": ["1"]}] * 2, [{}]):
        rewrite(path, lambda document, x=axes: document["encoding"]["groups"][0].update(axes=x))  # type: ignore[misc]
        with pytest.raises(CheckpointError, match="other planes"):
            load_checkpoint(path, game(), encoding=other)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        (make_layout((6, 7, 3), flat=2), "other planes ([(3, 7, 6)] there, [(3, 6, 7)] here)"),
        (make_layout((7, 6, 3), flat=5), "another flat part (2 elements there, 5 here)"),
        (
            StoredLayout.from_json(CONNECT_FOUR.to_json() | {"kind": "propositions"}, "x"),
            "another kind of encoding (planes there, propositions here)",
        ),
        (StoredLayout.from_json(CONNECT_FOUR.to_json(), "x"), "in another order"),
        (
            changed_layout(channels=["content0", "content2", "content1"]),
            "are in another order: 84 of 128, the first of them element 42: "
            "content1 at (0, 0) there, content2 at (0, 0) here",
        ),
        (
            changed_layout(channels=["content0", "content1", "piece"]),
            "stand for something else: 42 of 128, the first of them element 84: "
            "content2 at (0, 0) there, piece at (0, 0) here",
        ),
    ],
    ids=["planes", "flat", "kind", "fingerprint", "order", "names"],
)
def test_another_encoding_is_told(encoding: StoredLayout, said: str, tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "a", make_network(), game())
    with pytest.raises(CheckpointError) as raised:
        load_checkpoint(path, game(), encoding=encoding)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(version=2), "has version 2"),
        (lambda d: d.update(format="something"), "not an omnilude checkpoint"),
        (lambda d: d.update(slots=[2, 3]), "is torch.float32 (4,), not torch.float32 (5,)"),
        (lambda d: d.update(slots=[]), "no such network"),
        (lambda d: d.update(slots="many"), "malformed"),
        (lambda d: d.pop("encoding"), "malformed"),
        (lambda d: d["encoding"].update(size=1), "no such network"),
        (lambda d: d["network"].update(size=[16, 2]), "tensors differ"),
        (lambda d: d["network"].update(size=[8, 3]), "towers.0.blocks.2.first.bias is missing"),
        (lambda d: d["network"].update(size=[8, 1]), "is not of this network"),
        (lambda d: d["network"].update(family="gaz"), "not of a gaz network"),
        (lambda d: d["network"].update(family="rnn"), "malformed"),
        (lambda d: d["network"].update(size=[8, 10**9]), "malformed"),
        (lambda d: d.pop("weights"), "does not name its weights"),
        (lambda d: d["weights"].update(file="../../a"), "must lie beside it"),
        (lambda d: d["weights"].update(file="b.safetensors"), "are missing"),
        (lambda d: d["weights"].update(sha256="0"), "damaged or cut off"),
    ],
)
def test_what_is_wrong_is_told(
    change: Callable[[dict[str, Any]], None], said: str, tmp_path: Path
) -> None:
    path = save_checkpoint(tmp_path / "a", make_network(), game())
    rewrite(path, change)
    with pytest.raises(CheckpointError) as raised:
        load_checkpoint(path)
    assert said in str(raised.value)


def test_there_is_no_such_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load_checkpoint(tmp_path / "nothing")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(tmp_path / "folder")


def test_extra_must_be_json(tmp_path: Path) -> None:
    for extra in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises(CheckpointError, match="JSON"):
            save_checkpoint(tmp_path / "a", make_network(), game(), extra=extra)
    assert not list(tmp_path.iterdir())


# --- what is damaged, or could do harm ---


def test_no_file_of_ours_is_pickled() -> None:
    """Pickled files run whatever is in them. (Processes talk to their own parent as they like.)"""
    source = Path(__file__).parent.parent / "src"
    forbidden = re.compile(
        r"(import|from)\s+(c?pickle|dill|joblib|shelve|marshal)\b|pickle\.(load|dump)|"
        r"(?<!safetensors\.)torch\.(load|save)\(|allow_pickle\s*=\s*True"
    )
    files = list(source.rglob("*.py"))
    assert len(files) > 50
    assert not [file for file in files if forbidden.search(file.read_text(encoding="utf-8"))]
    assert forbidden.search("from pickle import loads")
    assert not forbidden.search("safetensors.torch.load(content)")


def test_damage_is_noticed(tmp_path: Path) -> None:
    """Bytes flipped, files cut off or grown: refused by name, or what was saved comes back."""
    network = make_network(NetworkSettings(channels=8, blocks=0))
    path = save_checkpoint(tmp_path / "a", network, game(), step=7, extra={"x": [1, 2.5, "é"]})
    weights = next(tmp_path.glob("*.safetensors"))
    generator = random.Random(0)
    refused = 0
    for trial in range(200):
        file = (path, weights)[trial % 2]
        content = file.read_bytes()
        damaged = bytearray(content)
        match generator.randrange(4):
            case 0:
                del damaged[generator.randrange(len(damaged)) :]
            case 1:
                damaged += generator.randbytes(generator.randrange(1, 9))
            case 2:
                damaged[generator.randrange(len(damaged))] ^= 1 << generator.randrange(8)
            case _:
                start = generator.randrange(len(damaged))
                damaged[start : start + 8] = generator.randbytes(8)
        file.write_bytes(damaged)
        try:
            checkpoint = load_checkpoint(path, game(), encoding=CONNECT_FOUR)
        except CheckpointError:
            refused += 1
        else:
            assert same_weights(checkpoint.network, network)
            assert (checkpoint.step, checkpoint.extra) == (7, {"x": [1, 2.5, "é"]})
        file.write_bytes(content)
    assert refused > 190


def test_damaged_tensors_under_a_right_checksum(tmp_path: Path) -> None:
    """Even weights that only pretend to be safetensors end in a CheckpointError."""
    path = save_checkpoint(tmp_path / "a", make_network(), game())
    content = next(tmp_path.glob("*.safetensors")).read_bytes()
    generator = random.Random(1)
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(generator.randrange(1, 4)):
            damaged[generator.randrange(min(len(damaged), 3000))] = generator.randrange(256)
        del damaged[generator.choice([len(damaged), generator.randrange(len(damaged))]) :]
        (tmp_path / "b.safetensors").write_bytes(damaged)
        digest = hashlib.sha256(damaged).hexdigest()
        rewrite(path, lambda d, x=digest: d["weights"].update(file="b.safetensors", sha256=x))  # type: ignore[misc]
        try:
            load_checkpoint(path)
        except CheckpointError:
            continue
