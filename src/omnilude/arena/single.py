"""A player for one state at a time: what `omnilude.player` gives to people and small programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np

from omnilude.arena.players import Player, Positions
from omnilude.arena.specs import explain_spec, make_player, split_spec
from omnilude.errors import IllegalMove, SettingsError
from omnilude.games import Game, Move, State
from omnilude.games.chance import count_legal


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """What a player thinks of a move; nan where it has no opinion."""

    move: Move
    visits: float
    prior: float
    value: float  # reward expected by the role that makes the move


@dataclass(frozen=True, slots=True)
class RoleAnalysis:
    """What a player thinks of a role's situation."""

    role: str
    value: float  # reward expected, 0 to 1
    proven: bool  # the value is exact, by any best play of everybody
    moves: tuple[MoveAnalysis, ...]  # best first


@dataclass(frozen=True, slots=True)
class StateAnalysis:
    """What a player thinks of a state; `print` shows it as a table."""

    roles: tuple[RoleAnalysis, ...]  # all but chance
    chosen: tuple[Move, ...]  # one for each role, chance included
    simulations: int
    solved: bool  # the values are those of best play

    def __getitem__(self, role: str) -> RoleAnalysis:
        for analysis in self.roles:
            if analysis.role == role:
                return analysis
        raise KeyError(role)

    def __str__(self) -> str:
        lines = [f"{self.simulations} simulations{', solved' if self.solved else ''}"]
        for analysis in self.roles:
            proven = ", proven" if analysis.proven else ""
            lines.append(f"{analysis.role}: value {_show(analysis.value, 3)}{proven}")
            if len(analysis.moves) > 1:
                width = max(len(move.move.text) for move in analysis.moves)
                lines.append(f"  {'move':<{width}} {'visits':>8} {'prior':>7} {'value':>7}")
                lines += [
                    f"  {m.move.text:<{width}} {_show(m.visits, 0):>8} {_show(m.prior, 3):>7} "
                    f"{_show(m.value, 3):>7}"
                    for m in analysis.moves
                ]
        return "\n".join(lines)


class StatePlayer:
    """Chooses moves for single states. Every call uses new random numbers of the seed."""

    def __init__(
        self,
        spec: str | Path,
        game: Game | None = None,
        *,
        seed: int = 0,
        roles: Sequence[str] = (),
        **options: Any,
    ) -> None:
        """`roles`: those that it plays, all where none is named; `options`: of the spec."""
        if not 0 <= seed < 1 << 64:
            raise SettingsError(f"seed must be from 0 to 2^64 - 1, but is {seed}")
        self.spec, self.seed, self.roles = str(spec), seed, tuple(roles)
        self._options, self._calls = options, 0
        explain_spec(self.spec, **options)  # what is wrong is said now, not at the first move
        self._game = game
        self._player: Player | None = self._make(game) if game else None

    def __repr__(self) -> str:
        return f"<player {self.spec}>"

    @overload
    def choose(self, state: State) -> tuple[Move, ...]: ...
    @overload
    def choose(self, state: State, role: str | int) -> Move: ...
    def choose(self, state: State, role: str | int | None = None) -> Move | tuple[Move, ...]:
        """The move of each role that it plays, in the order of the roles, or of one role.

        A player that plays all roles chooses for chance too (at random), so that
        `state.play(player.choose(state))` goes on in any game.
        """
        game = state.game
        names = [game.roles[game.role_number(role)]] if role is not None else self.roles
        numbers = [game.role_number(name) for name in names] or range(len(game.roles))
        positions = self._look_at(state)
        if all(len(state.legal(number)) == 1 for number in numbers):
            moves = [state.legal(number)[0] for number in numbers]
        else:
            slots = self._player_of(game).choose(positions)[0]
            moves = [game.move(number, int(slots[number])) for number in numbers]
        return moves[0] if role is not None else tuple(moves)

    def analyse(self, state: State) -> StateAnalysis:
        """Visits, priors and values of the moves, and the value of the state for each role."""
        game = state.game
        positions = self._look_at(state)
        found = self._player_of(game).analyse(positions)
        roles = []
        for place, number in enumerate(game.players):
            part = slice(int(found.offsets[place]), int(found.offsets[place + 1]))
            moves = [
                MoveAnalysis(game.move(number, int(slot)), float(n), float(prior), float(q))
                for slot, n, prior, q in zip(
                    found.slots[part],
                    found.visits[part],
                    found.priors[part],
                    found.q[part],
                    strict=True,
                )
            ]
            best = int(found.moves[0, number])
            moves.sort(key=lambda m: (m.move.slot != best, -m.visits, -m.prior))
            value, proven = float(found.values[0, place]), bool(found.proven[0, place])
            roles.append(RoleAnalysis(game.roles[number], value, proven, tuple(moves)))
        return StateAnalysis(
            roles=tuple(roles),
            chosen=tuple(
                game.move(number, int(slot)) for number, slot in enumerate(found.moves[0])
            ),
            simulations=int(found.simulations[0]),
            solved=bool(found.solved[0]),
        )

    def _look_at(self, state: State) -> Positions:
        if state.terminal:
            raise IllegalMove("the game is over: there is nothing to choose")
        stream = np.array([self._calls], dtype=np.uint64)
        ply = np.array([state.ply], dtype=np.uint32)
        positions = Positions.of_states(state.game, state.block, stream, ply)
        for role, legal in zip(state.game.roles, count_legal(positions.batch)[0], strict=True):
            if not legal:
                raise IllegalMove(f"{role} has no legal move: the game cannot go on from here")
        self._calls += 1
        return positions

    def _player_of(self, game: Game) -> Player:
        """The player for a game: that of the last call, unless this is another game."""
        if self._player is None or self._game is not game:
            self._player, self._game = self._make(game), game
        return self._player

    def _make(self, game: Game) -> Player:
        options = dict(self._options)
        asked = {**split_spec(self.spec)[1], **options}
        search = explain_spec(self.spec, game, **options).get("search") or {}
        if search.get("root") == "puct" and "reuse" not in asked:
            # One state after another, mostly of one game: what was searched before is of use.
            options["reuse"] = True
        return make_player(self.spec, game, seed=self.seed, **options)


def _show(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
