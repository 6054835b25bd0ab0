"""Roles: who of the players, and neutral or shared besides."""

from __future__ import annotations

from omnilude.rules.ludeme.arguments import describe
from omnilude.rules.ludeme.tree import Clause, Node, Symbol

PLAYERS = {f"P{number}": number for number in range(1, 17)}
TEAMS = {f"Team{number}": 16 + number for number in range(1, 17)}
_OTHERS = (
    *("TeamMover", "Each", "Shared", "All", "Mover", "Next", "Prev"),
    *("NonMover", "Enemy", "Friend", "Ally", "Player"),
)
ROLES = {
    "Neutral": 0,
    **PLAYERS,
    **TEAMS,
    **{name: 33 + number for number, name in enumerate(_OTHERS)},
}
EACH, SHARED, ALL, MOVER, NEXT, PREV = (ROLES[name] for name in _OTHERS[1:7])
PLAYER = ROLES["Player"]


def is_role(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name in ROLES


def role_number(node: Node) -> int:
    """The number of a role; an error where it is something else."""
    if not is_role(node):
        raise node.place.error(f"a role is needed, not {describe(node)}")
    return ROLES[describe(node)]


def is_player_clause(node: Node) -> bool:
    """(player …), or something else that is a number of a player."""
    return isinstance(node, Clause) and node.keyword in ("player", "mover", "next", "prev")


def owner_of(role: int, players: int) -> int:
    """The owner's number that a role of equipment stands for."""
    if role in (EACH, SHARED, ALL):
        return players + 1
    return role if role <= 16 else role - 16 if role <= 32 else 0
