"""Recorded games of another engine, replayed move by move.

A replay is exact if at every ply there are as many legal moves as were recorded, the recorded move
is among them and does the same to every site, consequences and all, and the game ends with the same
winner and the same rankings.
"""

from __future__ import annotations

import gzip
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omnilude.rules.ludeme.compiler.hiding import SIDES

if TYPE_CHECKING:
    from omnilude import _core

KINDS = {"Vertex": 0, "Edge": 1, "Cell": 2}
_ACTION = re.compile(r"\[(\w+):([^\[\]]*)\]")
_HEAD = re.compile(r"Move=\[Move:mover=(\d+)(?:,from=(-?\d+))?(?:,to=(-?\d+))?")
_SILENT = frozenset({"Note"})
"""Actions that change nothing."""

Effect = tuple[str, tuple[tuple[str, int], ...]]
"""One action: its name and what it says, sorted by name."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One recorded move."""

    mover: int
    origin: int  # -1: none, as with `target`
    target: int
    effects: tuple[Effect, ...]
    dice: tuple[int, ...]  # the faces that were rolled for it, by die
    kinds: tuple[int, int]  # of the sites of the decision; -1: not said
    text: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One recorded game."""

    placements: tuple[Ply, ...]  # before the first ply
    plies: tuple[Ply, ...]
    legal: tuple[int, ...]  # number of legal moves at each ply
    winner: int | None
    rankings: tuple[float, ...]  # by player, from 1
    end: str


def read_trial(path: Path) -> Trial:
    """Reads one file of recorded moves, compressed or not."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    moves: list[Ply] = []
    legal: list[int] = []
    end: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("Move="):
            moves.append(_read_ply(line))
        elif line.startswith("LEGAL MOVES LIST SIZE = "):
            legal.append(int(line.partition("= ")[2]))
        elif "=" in line and line.partition("=")[0] in ("winner", "rankings", "endtype"):
            end[line.partition("=")[0]] = line.partition("=")[2]
    first = next((n for n, ply in enumerate(moves) if ply.mover != 0), len(moves))
    return Trial(
        placements=tuple(moves[:first]),
        plies=tuple(moves[first:]),
        legal=tuple(legal),
        winner=int(end["winner"]) if "winner" in end else None,
        rankings=tuple(float(r) for r in end["rankings"].split(",")[1:] if r)
        if "rankings" in end
        else (),
        end=end.get("endtype", ""),
    )


def _read_ply(line: str) -> Ply:
    head = _HEAD.match(line)
    if head is None:
        raise ValueError(f"not a move: {line[:80]}")
    effects: list[Effect] = []
    dice: list[int] = []
    decided = False
    kinds = (-1, -1)
    for name, body in _ACTION.findall(line[line.index("actions=") :]):
        parts = [part.partition("=") for part in body.split(",") if "=" in part]
        given = {key: value for key, _, value in parts}
        if "decision" in given and not decided:
            decided = True
            same = given.get("type", "")
            source = given.get("typeFrom", same)
            target_kind = given.get("typeTo", source)
            kinds = KINDS.get(source, -1), KINDS.get(target_kind, -1)
        if name == "SetStateAndUpdateDice" and not decided:
            dice.append(int(given["state"]))
        if name not in _SILENT:
            effects.append(_recorded(name, given))
    origin, target = (-1 if head[n] is None else int(head[n]) for n in (2, 3))
    return Ply(int(head[1]), origin, target, tuple(effects), tuple(dice), kinds, line)


_FLAGS = {"true": 1, "false": 0}


def _recorded(name: str, given: dict[str, str]) -> Effect:
    """What a recorded action says, without what follows from the rest of it."""
    values: dict[str, int] = {}
    for key, text in given.items():
        if key in ("typeFrom", "typeTo", "type"):
            continue
        if key in ("name", "event", "proposition", "vote", "message", "forced", "indexHandDice"):
            continue
        values[key] = _FLAGS[text] if text in _FLAGS else int(text)
    if values.get("applied") == 0:
        name = "RemoveLater"
        del values["applied"]
    # Where nothing is stacked level 0 means the piece there; selecting changes no site.
    if name == "Select" or (name == "Copy" and values.get("levelFrom") == 0):
        values.pop("levelFrom", None)
        values.pop("levelTo", None)
        if name == "Select" and values.get("to") == values["from"]:
            del values["to"]
    if name == "Add":
        values.pop("stack", None)
        values.pop("level", None)
    if name == "SetStateAndUpdateDice":
        values = {"to": values["site"], "state": values["state"]}
    if name == "UseDie":
        values = {"site": values["site"]}
    return name, tuple(sorted(values.items()))


def _made(action: tuple[str | int, ...]) -> Effect:
    """One of our own actions, in the words of the records."""
    name, _, origin, level_from, _, target, level_to, what, count, state, rotation, value = action[
        :12
    ]
    decision, stack = action[12:]
    values: dict[str, object] = {}
    if decision:
        values["decision"] = 1

    def add(**given: object) -> None:
        for key, one in given.items():
            if one != -1:
                values[key] = one

    if name in ("Move", "Copy", "MoveCount", "MovePart"):
        add(**{"from": origin}, to=target, levelFrom=level_from, levelTo=level_to)
        add(state=state, rotation=rotation, value=value)
        if stack:
            values["stack"] = 1
        if name == "MoveCount":
            name = "Move"
            values["count"] = count
        if name == "MovePart":
            name = "StackMove"
            values["numLevel"] = count
    elif name == "Add":
        add(to=target, what=what, state=state, rotation=rotation, value=value)
        if count != 1:
            values["count"] = count
    elif name == "Insert":
        add(to=target, level=level_to, what=what, state=state, rotation=rotation, value=value)
    elif name in ("Remove", "RemoveLater"):
        add(to=target, level=level_to)
    elif name == "Promote":
        add(to=target, what=what)
    elif name == "Select":
        add(**{"from": origin})
        if target != origin:
            add(to=target)
    elif name == "SetHidden":
        name = f"SetHidden{SIDES[int(count)]}"
        values |= {"to": target, "level": level_to, "who": what, "value": value}
    elif name == "SetCount":
        values |= {"to": target, "what": what, "count": count}
    elif name in ("SetState", "SetRotation", "SetValue"):
        add(to=target, level=level_to)
        values[{"SetState": "state", "SetRotation": "rotation", "SetValue": "value"}[str(name)]] = (
            count
        )
    elif name == "SetNextPlayer":
        values["player"] = what
    elif name in ("SetScore", "AddScore"):
        values |= {"player": what, "score": count}
        if name == "AddScore":
            values["add"] = 1
        name = "SetScore"
    elif name == "SetCounter":
        values["counter"] = count
    elif name == "SetTemp":
        values["temp"] = count
    elif name == "SetVariable":
        name = "SetVar"
        values["value"] = count
    elif name == "SetPending":
        add(value=count)
    elif name == "SetPlayerValue":
        name = "SetValueOfPlayer"
        values |= {"player": what, "value": count}
    elif name == "SetTeam":
        name = "AddPlayerToTeam"
        values |= {"team": count, "player": what}
    elif name in ("Remember", "Forget"):
        name = f"{name}Value"
        values["value"] = count
    elif name == "Trigger":
        values["player"] = what
    elif name == "UpdateDie":
        name = "SetStateAndUpdateDice"
        values = {"to": target, "state": count}
    elif name == "UseDie":
        values = {"site": target}
    elif name == "SetDiceEqual":
        name = "SetDiceAllEqual"
        values = {"value": count}
    elif name == "Swap":
        values |= {"player1": what, "player2": count}
    elif name == "Propose":
        values["propositionInt"] = what
    elif name == "Vote":
        values["voteInt"] = what
    return str(name), tuple(sorted((key, int(str(one))) for key, one in values.items()))


def _by_place(effects: tuple[Effect, ...]) -> dict[str, list[Effect]]:
    """Actions by what they change: those on different sites may be done in any order."""
    places: dict[str, list[Effect]] = {}
    for effect in effects:
        name, values = effect
        given = dict(values)
        touched = {f"site {given[key]}" for key in ("from", "to", "site") if key in given}
        if name == "SetNextPlayer":
            places.setdefault(name, []).append(effect)  # of whomever it is: the last one counts
            continue
        for place in touched or {f"{name} {given.get('player', '')}"}:
            places.setdefault(place, []).append(effect)
    for place, listed in places.items():
        if not place.startswith(("site", "SetScore", "SetNextPlayer")):
            listed.sort()
    return places


def replay(table: _core.LudemeTable, trial: Trial, *, seconds: float = float("inf")) -> str | None:
    """Replays a game from its start; None if all agrees, else what does not."""
    stop = time.monotonic() + seconds
    for number, (ply, legal) in enumerate(zip(trial.plies, trial.legal, strict=False)):
        if time.monotonic() > stop:
            raise TimeoutError
        if ply.dice:
            table.set_roll(list(ply.dice))
        count = table.count_moves()
        if count != legal:
            return f"ply {number}: {count} legal moves, not {legal}"
        candidates = [n for n in range(count) if table.move(n)[:2] == (ply.origin, ply.target)]
        if not candidates:
            return f"ply {number}: no legal move from {ply.origin} to {ply.target}: {ply.text}"
        wrong: tuple[Effect, ...] = ()
        fitting: list[tuple[bool, int]] = []
        for n in candidates:
            actions = table.actions(n)
            effects = tuple(_made(action) for action in actions if action[0] != "Note")
            if effects == ply.effects or _by_place(effects) == _by_place(ply.effects):
                # Sites of several kinds may have the same number.
                chosen = next((action for action in actions if action[12]), None)
                kinds = (-1, -1) if chosen is None else (chosen[1], chosen[4])
                fitting.append((kinds != ply.kinds, n))
            wrong = effects
        if fitting:
            table.play(min(fitting)[1])
        else:
            made, recorded = _show(wrong), _show(ply.effects)
            return f"ply {number}: other effects\n  {made}\n  instead of\n  {recorded}"
    found = table.scalars()
    if not found["over"]:
        return "the game is not over" if trial.end != "MoveLimit" else None
    if trial.winner is not None and found["winner"] != trial.winner:
        return f"winner {found['winner']}, not {trial.winner}"
    if trial.rankings and tuple(found["ranking"]) != trial.rankings:
        return f"rankings {found['ranking']}, not {trial.rankings}"
    return None


def _show(effects: tuple[Effect, ...]) -> str:
    return " ".join(
        f"[{name} {', '.join(f'{key} {value}' for key, value in values)}]"
        for name, values in effects
    )
