"""Who plays which role: every fair way, equally often."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

from omnilude.errors import SettingsError

MOST_SEATINGS = 5040
"""Seven contestants for seven roles; more would be a match without end."""


def list_seatings(contestants: int, players: int) -> list[tuple[int, ...]]:
    """For each seating, the contestant of each player.

    These are all ways in which as many contestants take part as can: two contestants and two
    roles change sides; two contestants and three roles meet with one against two in every role,
    both ways round; with more contestants than roles every selection plays in every order.
    """
    if contestants < 1 or players < 1:
        raise SettingsError("a match needs a contestant and a role to play")
    if (contestants if contestants < players else players) ** players > 100 * MOST_SEATINGS:
        raise SettingsError(f"{contestants} contestants in {players} roles: too many ways")
    if contestants >= players:
        seatings = list(permutations(range(contestants), players))
    else:
        seatings = [
            seating
            for seating in product(range(contestants), repeat=players)
            if len(set(seating)) == contestants
        ]
    if len(seatings) > MOST_SEATINGS:
        raise SettingsError(
            f"{contestants} contestants have {len(seatings)} ways to sit in {players} roles, "
            f"more than {MOST_SEATINGS}"
        )
    return seatings


def seat_together(contestants: int, players: int) -> list[tuple[int, ...]]:
    """Each contestant plays all roles of its own games: for games that are played together."""
    return [(contestant,) * players for contestant in range(contestants)]


def seat_first(roles: Sequence[int], players: int) -> list[tuple[int, ...]]:
    """The first contestant plays these of the players, the second all others."""
    if not 0 < len(set(roles)) < players:
        raise SettingsError("the first contestant must play some of the roles, but not all")
    return [tuple(0 if player in roles else 1 for player in range(players))]
