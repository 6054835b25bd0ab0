"""Checkpoints: NAME.json, which people can read, and the safetensors file that it names.

The JSON says which game, rules, encoding and network the weights belong to, and their sha256; the
weights are named by that, `NAME.<sha256>.safetensors`. They are written first, the JSON last and in
one step: whoever is killed while saving over an older checkpoint leaves the older one whole.
Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from omnilude._core import CircuitGame
from omnilude.errors import CheckpointError, SettingsError
from omnilude.networks.build import build_network
from omnilude.networks.files import checksum, find_version, write_atomically
from omnilude.networks.layout import Layout, StoredLayout, places
from omnilude.networks.network import Network
from omnilude.networks.settings import NetworkSettings

if TYPE_CHECKING:
    from omnilude.games import Game

FORMAT, VERSION = "omnilude checkpoint", 1
MOST_NAMED = 1 << 20
"""Elements of rows that are named where they differ; beyond there are none so large."""
_NETWORK, _EXTRA = "network.", "extra."  # prefixes of the names of tensors


@dataclass(frozen=True, slots=True)
class Checkpoint:
    network: Network
    step: int
    game: str
    """Name of the game; `rules` is what identifies it."""
    rules: str
    extra: dict[str, Any]
    """What the caller saved besides, as JSON."""
    tensors: dict[str, Tensor]
    """What the caller saved besides, as tensors: the state of an optimiser, say."""


def rules_fingerprint(game: Game) -> str:
    """Identifies rules by what they say; comments, white space and file names do not count."""
    if game.program is None:
        raise CheckpointError(f"{game.name} keeps no rules to identify a checkpoint by")
    return hashlib.sha256("\n".join(map(str, game.program.rules)).encode()).hexdigest()


def layout_fingerprint(game: Game) -> str:
    """Identifies what the bits of a state and the slots of a move mean, and in which order."""
    moves = [
        game.core.move_name(role, slot)
        for role in range(len(game.roles))
        for slot in range(game.slots(role))
    ]
    fluents = game.core.fluents if isinstance(game.core, CircuitGame) else []
    return hashlib.sha256("\n".join([*fluents, "", *moves]).encode()).hexdigest()


def save_checkpoint(
    path: str | Path,
    network: Network,
    game: Game,
    *,
    step: int = 0,
    extra: Mapping[str, Any] | None = None,
    tensors: Mapping[str, Tensor] | None = None,
) -> Path:
    """Writes a checkpoint under `path` (with or without .json), over one that is there already.

    Returns the path of the JSON file.
    """
    path = _json_path(path)
    named = {_NETWORK + name: tensor for name, tensor in network.state_dict().items()}
    named |= {_EXTRA + name: tensor for name, tensor in (tensors or {}).items()}
    weights = safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}
    )
    digest = hashlib.sha256(weights).hexdigest()
    file = f"{path.stem}.{digest[:16]}.safetensors"
    document = {
        "format": FORMAT,
        "version": VERSION,
        "omnilude": find_version(),
        "game": game.name,
        "rules": rules_fingerprint(game),
        "step": step,
        "network": {**asdict(network.settings), "size": list(network.settings.size)},
        "players": [game.roles[player] for player in game.players],
        "slots": list(network.slots),
        "weights": {"file": file, "sha256": digest, "bytes": len(weights)},
        "extra": dict(extra or {}),
        "fingerprint": network.encoding.fingerprint,
        "encoding": network.encoding.to_json(),
    }
    try:
        document = json.loads(json.dumps(document, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"extra must be what JSON can hold: {error}") from error
    document["checksum"] = checksum(document)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path.parent / file, weights)
    write_atomically(path, text.encode())
    for old in _files_of(path):
        if old.name != file:
            old.unlink(missing_ok=True)
    return path


def delete_checkpoint(path: str | Path) -> None:
    """Removes a checkpoint, if it is there; the JSON first, so that no half is taken for one."""
    path = _json_path(path)
    path.unlink(missing_ok=True)
    for file in _files_of(path):
        file.unlink(missing_ok=True)


def load_checkpoint(
    path: str | Path, game: Game | None = None, *, encoding: Layout | None = None
) -> Checkpoint:
    """Reads a checkpoint and checks every part of it; raises CheckpointError that says what is
    wrong, or what differs from `game`.

    The network's encoding is `encoding`, or else the game's encoding of the same kind; without a
    game it is the stored layout, which says what a row holds but cannot make one.
    """
    path = _json_path(path)
    document, weights = _read(path)
    try:
        stored = StoredLayout.from_json(document["encoding"], str(document["fingerprint"]))
        settings = _stored_settings(document["network"])
        slots = tuple(int(count) for count in document["slots"])
        checkpoint_game, rules = str(document["game"]), str(document["rules"])
        players = tuple(str(player) for player in document.get("players", ()))
        step, extra = int(document["step"]), dict(document["extra"])
    except (AttributeError, KeyError, TypeError, ValueError, SettingsError) as error:
        raise CheckpointError(f"{path}: malformed: {error!r}") from error
    if game is not None and game.name != checkpoint_game and rules_fingerprint(game) != rules:
        raise CheckpointError(f"{path} has learned other rules: {checkpoint_game}, not {game.name}")
    if game is not None and encoding is None:
        from omnilude.encoding import make_encoding

        encoding = make_encoding(game, stored.kind)
    differences = []
    if game is not None:
        differences += _differences_of_game(game, players, slots)
    if encoding is not None:
        differences += _differences_of_encoding(encoding, stored)
    if game is not None and (here := rules_fingerprint(game)) != rules:
        same = "players, slots" if players else "slots"  # early versions did not note players
        known = "" if differences else f"; {same} and encoding are the same"
        differences.insert(
            0,
            f"other rules (the checkpoint is of {checkpoint_game} with rules {rules[:12]}, "
            f"here {here[:12]}{known})",
        )
    if differences:
        fits = f"the game {game.name}" if game is not None else "the encoding"
        raise CheckpointError(f"{path} does not fit {fits}: {'; '.join(differences)}")
    network, tensors = _rebuild(path, encoding or stored, slots, settings, weights)
    return Checkpoint(network, step, checkpoint_game, rules, extra, tensors)


def read_facts(path: str | Path) -> dict[str, Any]:
    """What the JSON of a checkpoint says, checked as far as that goes without the weights."""
    return _read_json(_json_path(path))


def _rebuild(
    path: Path,
    encoding: Layout,
    slots: tuple[int, ...],
    settings: NetworkSettings,
    weights: dict[str, Tensor],
) -> tuple[Network, dict[str, Tensor]]:
    try:
        with torch.device("meta"):  # names and shapes only: no memory, no random numbers
            network = build_network(encoding, slots, settings)
    except (SettingsError, RuntimeError, ValueError, OverflowError) as error:
        raise CheckpointError(f"{path}: no such network can be built: {error}") from error
    given = {
        name.removeprefix(_NETWORK): tensor
        for name, tensor in weights.items()
        if name.startswith(_NETWORK)
    }
    wanted = network.state_dict()
    differences = [f"{name} is missing" for name in wanted if name not in given]
    differences += [f"{name} is not of this network" for name in given if name not in wanted]
    for name in wanted.keys() & given.keys():
        want, have = wanted[name], given[name]
        if want.shape != have.shape or want.dtype != have.dtype:
            differences.append(
                f"{name} is {have.dtype} {tuple(have.shape)}, not {want.dtype} {tuple(want.shape)}"
            )
    if differences:
        shown = "; ".join(sorted(differences)[:5])
        raise CheckpointError(
            f"{path}: the weights are not of a {settings.family} network of its size "
            f"({len(differences)} tensors differ): {shown}"
        )
    network.load_state_dict(given, assign=True)
    extra = {
        name.removeprefix(_EXTRA): tensor
        for name, tensor in weights.items()
        if name.startswith(_EXTRA)
    }
    return network, extra


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The checked JSON and the tensors; once more if another process saved in between."""
    for attempt in range(3):
        document = _read_json(path)
        try:
            file, digest = document["weights"]["file"], document["weights"]["sha256"]
        except (KeyError, TypeError) as error:
            raise CheckpointError(f"{path}: malformed: does not name its weights") from error
        if not isinstance(file, str) or Path(file).name != file:
            raise CheckpointError(f"{path}: malformed: weights must lie beside it, not at {file!r}")
        try:
            content = (path.parent / file).read_bytes()
        except FileNotFoundError as error:
            if attempt < 2:
                continue
            raise CheckpointError(f"{path}: its weights {file} are missing") from error
        except OSError as error:
            raise CheckpointError(f"{path}: its weights cannot be read: {error}") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise CheckpointError(
                f"{path.parent / file} is damaged or cut off: its sha256 is not what {path.name} "
                f"says ({len(content)} bytes)"
            )
        try:
            return document, safetensors.torch.load(content)
        except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path.parent / file} is malformed: {error}") from error
    raise AssertionError("unreachable")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise CheckpointError(f"there is no checkpoint {path}") from error
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged or cut off: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not an omnilude checkpoint")
    if document.get("version") != VERSION:
        raise CheckpointError(
            f"{path} has version {document.get('version')!r}, this omnilude reads {VERSION}"
        )
    if document.pop("checksum", None) != checksum(document):
        raise CheckpointError(f"{path} is damaged or was edited: its checksum is not that of it")
    return document


def _stored_settings(stored: dict[str, Any]) -> NetworkSettings:
    settings = NetworkSettings(
        family=stored["family"],
        preset=stored["preset"],
        channels=stored["channels"],
        blocks=stored["blocks"],
    )
    channels, blocks = (int(number) for number in stored["size"])
    if settings.size == (channels, blocks):
        return settings
    return replace(settings, channels=channels, blocks=blocks)  # presets were others then


def _differences_of_game(game: Game, players: tuple[str, ...], slots: tuple[int, ...]) -> list[str]:
    differences = []
    players_here = tuple(game.roles[player] for player in game.players)
    if players and players_here != players:
        differences.append(
            f"other players ({', '.join(players)} there, {', '.join(players_here)} here)"
        )
    slots_here = tuple(game.slots(player) for player in game.players)
    if slots_here != slots:
        differences.append(f"other slots of the players ({slots} there, {slots_here} here)")
    return differences


def _differences_of_encoding(here: Layout, there: Layout) -> list[str]:
    differences = []
    if here.kind != there.kind:
        differences.append(f"another kind of encoding ({there.kind} there, {here.kind} here)")
    shapes = [
        [(len(group.channels), *group.shape) for group in layout.groups] for layout in (there, here)
    ]
    if shapes[0] != shapes[1]:
        differences.append(f"other planes ({shapes[0]} there, {shapes[1]} here)")
    if len(here.flat) != len(there.flat):
        differences.append(
            f"another flat part ({len(there.flat)} elements there, {len(here.flat)} here)"
        )
    if here.fingerprint != there.fingerprint and here.kind == there.kind:
        names_here, names_there = _name_elements(here), _name_elements(there)
        if not differences:
            differences.append(_difference_in_order(names_here, names_there))
        differences += _differences_of_names(names_here, names_there)
    return differences


def _differences_of_names(here: Sequence[str], there: Sequence[str]) -> list[str]:
    """What the rows of one side show, and those of the other do not: fluents, mostly."""
    differences = []
    for names, others, where in ((there, here, "there"), (here, there, "here")):
        known = set(others)
        only = [name for name in names if name not in known]
        if only:
            differences.append(f"elements only {where}: {len(only)}, the first {only[0]}")
    return differences


def _difference_in_order(here: Sequence[str], there: Sequence[str]) -> str:
    """How rows of the same shapes differ."""
    differ = [k for k in range(len(here)) if here[k] != there[k]]
    if not differ:  # in how their axes were found, say; or there are too many to name
        return "the elements of a row stand for something else, or in another order"
    what = "are in another order" if sorted(here) == sorted(there) else "stand for something else"
    first = differ[0]
    return (
        f"the elements of a row {what}: {len(differ)} of {len(here)}, the first of them "
        f"element {first}: {there[first]} there, {here[first]} here"
    )


def _name_elements(layout: Layout) -> list[str]:
    """What each element of a row stands for, in order, as far as the JSON of a layout tells.

    That of a checkpoint may say anything: no sizes that it gives are trusted.
    """
    from omnilude.encoding.indices import fill_holes

    sides = [side for planes in layout.groups for side in planes.shape]
    size = sum(places(planes) * len(planes.channels) for planes in layout.groups)
    if min(sides, default=1) < 1 or size > MOST_NAMED:
        return []
    names = []
    for number, planes in enumerate(layout.groups):
        labels = _labels_of(layout, number)
        for channel in planes.channels:
            for place in product(*map(range, planes.shape)):
                try:
                    symbols = [labels[axis][index] for axis, index in enumerate(place)]
                    names.append(fill_holes(channel, symbols))
                except (IndexError, StopIteration):
                    names.append(f"{channel} at {place}")
    return [*names, *layout.flat]


def _labels_of(layout: Layout, group: int) -> list[list[str]]:
    """The symbols of a group's axes; nothing where its JSON has none."""
    try:
        axes = layout.to_json()["groups"][group]["axes"]
        return [[str(label) for label in axis["labels"]] for axis in axes]
    except (KeyError, TypeError):
        return []


def _json_path(path: str | Path) -> Path:
    path = Path(path)
    return path if path.suffix == ".json" else path.with_name(path.name + ".json")


def _files_of(path: Path) -> list[Path]:
    """The weights of a checkpoint, also of older ones, and what killed writers left behind."""
    name = re.escape(path.stem)
    weights = rf"{name}\.[0-9a-f]{{16}}\.safetensors"
    pattern = re.compile(rf"{weights}|\.{weights}\..*\.part|\.{name}\.json\..*\.part")
    return [file for file in path.parent.iterdir() if pattern.fullmatch(file.name)]
