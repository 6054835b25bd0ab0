"""`Game`, `State` and `Move`: one interface for every engine.

Underneath, a state is a row of bytes and everything happens in batches: `Game.initial_states`,
`Game.advance` and `Game.describe` take and give numpy arrays and release the interpreter lock.
`State` is an immutable view of one row for people, tests and small tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnilude import _core
from omnilude.errors import BudgetExceeded, IllegalMove, RulesError, SettingsError, Unsupported
from omnilude.games.board import Grid, draw_board, find_grid
from omnilude.rules.gdl import GdlProgram

if TYPE_CHECKING:
    from omnilude.games.drawing import Picture
    from omnilude.games.ludemes import LudemeProgram

CHANCE = "random"


@dataclass(frozen=True, slots=True)
class Move:
    """A legal move; `str` gives its text."""

    role: int
    slot: int  # names the move within its role, the same in every state
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be known of a batch of states."""

    terminal: NDArray[np.bool_]  # [states]
    rewards: NDArray[np.float32]  # [states, roles]; 0 where not terminal
    offsets: NDArray[np.uint32]  # [states * roles + 1] into moves
    moves: NDArray[np.int32]  # slots, ascending within a state and role
    odd_goals: int  # roles of terminal states that have no goal value, or several

    def legal(self, state: int, role: int) -> NDArray[np.int32]:
        roles = self.rewards.shape[1]
        first, last = self.offsets[state * roles + role : state * roles + role + 2]
        return self.moves[first:last]


class Game:
    """A compiled game: immutable, shared between threads."""

    def __init__(
        self,
        name: str,
        core: _core.Game,
        *,
        file: str,
        engine: str,
        warnings: Sequence[str] = (),
        percepts: bool = False,
        program: GdlProgram | None = None,
        ludemes: LudemeProgram | None = None,
        picture: Callable[[], Picture] | None = None,
    ) -> None:
        self.name = name
        self.core = core
        self.file = file
        self.engine = engine
        """'circuit', or 'interpreter' where the circuit would be too large; 'ludemes'."""
        self.warnings = tuple(warnings)
        self.percepts_used = percepts
        """Whether the rules say what each role sees (GDL-II)."""
        self.program = program
        """The checked rules, for what is found in them: encodings, symmetries, fingerprints."""
        self.ludemes = ludemes
        """The description and what was found in it, where the game is described by ludemes."""
        self._make_picture = picture
        self.roles: tuple[str, ...] = tuple(core.roles)
        self._role_numbers = {role: i for i, role in enumerate(self.roles)}

    def __repr__(self) -> str:
        return f"<Game {self.name}: {', '.join(self.roles)}; {self.engine}>"

    @cached_property
    def picture(self) -> Picture | None:
        """How states are drawn, where there is a board; made when it is first needed."""
        return self._make_picture() if self._make_picture else None

    # --- one state at a time ---

    def initial(self) -> State:
        return State(self, self.core.initial(1))

    def role_number(self, role: str | int) -> int:
        if isinstance(role, int) and 0 <= role < len(self.roles):
            return role
        if isinstance(role, str) and role in self._role_numbers:
            return self._role_numbers[role]
        raise IllegalMove(f"{self.name} has no role {role!r}, only {', '.join(self.roles)}")

    @property
    def chance(self) -> tuple[bool, ...]:
        """For each role whether it is chance: it moves at random and has no interests."""
        return tuple(role == CHANCE for role in self.roles)

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of the roles that have interests and policies: all but chance."""
        return tuple(number for number, chance in enumerate(self.chance) if not chance)

    # --- batches ---

    @property
    def state_bytes(self) -> int:
        return self.core.state_bytes

    def initial_states(self, count: int) -> NDArray[np.uint8]:
        """[count, state_bytes]"""
        return self.core.initial(count)

    def advance(self, states: NDArray[np.uint8], moves: NDArray[np.int32]) -> None:
        """Plays one joint move in each state, in place; `moves` is [states, roles], slots.

        Slots must be of legal moves: that is not tested here.
        """
        with self._typed_errors():
            self.core.advance(states, moves)

    def describe(self, states: NDArray[np.uint8]) -> Batch:
        with self._typed_errors():
            terminal, rewards, offsets, moves, odd_goals = self.core.describe(states)
        return Batch(terminal.view(np.bool_), rewards, offsets, moves, odd_goals)

    def playouts(
        self,
        count: int,
        *,
        seed: int = 0,
        threads: int = 1,
        max_length: int = 100_000,
        detailed: bool = False,
    ) -> dict[str, Any]:
        """Random playouts from the initial state: how often each role got each goal, and more.

        The result depends on everything but `threads`. See PlayoutResult in core/base/game.h.
        """
        if count < 1 or threads < 1 or max_length < 1:
            raise SettingsError("playouts, threads and max_length must be at least 1")
        with self._typed_errors():
            return self.core.playouts(count, seed, threads, max_length, detailed)

    @contextmanager
    def _typed_errors(self) -> Iterator[None]:
        """The core's errors as omnilude's."""
        try:
            yield
        except _core.IllegalMoveError as error:
            raise IllegalMove(str(error)) from error
        except _core.NegationInRecursion as error:
            raise RulesError(str(error), file=self.file) from error
        except _core.GameError as error:
            raise RulesError(f"play cannot go on: {error}", file=self.file) from error
        except _core.BudgetExceeded as error:
            raise BudgetExceeded(f"play goes beyond the {error}", file=self.file) from error
        except MemoryError as error:
            raise BudgetExceeded("play goes beyond the memory there is", file=self.file) from error

    def slots(self, role: str | int) -> int:
        """Number of policy slots of a role: all moves that it may ever have."""
        return self.core.slots(self.role_number(role))

    def move(self, role: str | int, slot: int) -> Move:
        number = self.role_number(role)
        return Move(number, slot, self.core.move_name(number, slot))

    @cached_property
    def grid(self) -> Grid | None:
        """The board that states are drawn on, where the fluents of the game form one."""
        if isinstance(self.core, _core.CircuitGame):
            return find_grid(self.core.fluents)
        return None

    @property
    def circuit_size(self) -> dict[str, Any] | None:
        """Sizes of the circuit, or None where the game is interpreted."""
        return self.core.size if isinstance(self.core, _core.CircuitGame) else None


class State:
    """An immutable view of one state."""

    __slots__ = ("__dict__", "_block", "game", "ply")

    def __init__(self, game: Game, block: NDArray[np.uint8], ply: int = 0) -> None:
        self.game = game
        self.ply = ply
        """Joint moves made before, as far as is known; states that differ in it alone are equal."""
        self._block = block
        block.flags.writeable = False

    @property
    def block(self) -> NDArray[np.uint8]:
        """The state's bytes, [1, state_bytes], for the batch interface; read-only."""
        return self._block

    @cached_property
    def _description(self) -> Batch:
        return self.game.describe(self._block)

    @property
    def terminal(self) -> bool:
        return bool(self._description.terminal[0])

    @property
    def reward(self) -> tuple[float, ...]:
        """One number from 0 to 1 for each role; 0 until the state is terminal."""
        return tuple(round(float(value), 2) for value in self._description.rewards[0])

    def legal(self, role: str | int) -> list[Move]:
        """The legal moves of a role."""
        number = self.game.role_number(role)
        return [self.game.move(number, int(slot)) for slot in self._description.legal(0, number)]

    def play(self, moves: Sequence[Move | str]) -> State:
        """The state after a joint move: one move for each role, in the order of the roles."""
        roles = self.game.roles
        if isinstance(moves, str | Move) or len(moves) != len(roles):
            raise IllegalMove(
                f"{self.game.name} needs {len(roles)} moves, one for each of {', '.join(roles)}"
            )
        if self.terminal:
            raise IllegalMove("the game is over")
        slots = np.empty((1, len(roles)), dtype=np.int32)
        for number, move in enumerate(moves):
            text = str(move)
            slot = self.game.core.find_move(number, text)
            if slot < 0 or slot not in self._description.legal(0, number):
                legal = [str(m) for m in self.legal(number)]
                shown = ", ".join(legal[:8]) + (", ..." if len(legal) > 8 else "")
                raise IllegalMove(
                    f"{text} is not legal for {roles[number]}; legal are: {shown or 'none'}"
                )
            slots[0, number] = slot
        block = self._block.copy()
        self.game.advance(block, slots)
        return State(self.game, block, self.ply + 1)

    @property
    def facts(self) -> list[str]:
        """The fluents that hold, as text, sorted."""
        return self.game.core.facts(self._block)

    def percepts(self, role: str | int) -> list[str]:
        """What a role saw when this state was reached (GDL-II's `sees`)."""
        return self.game.core.percepts(self._block, self.game.role_number(role))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self.game is other.game and self._block.tobytes() == other._block.tobytes()

    def __hash__(self) -> int:
        return hash(self._block.tobytes())

    def svg(self, role: str | int | None = None) -> str:
        """A picture of the board; with a role, as that role sees it."""
        picture, core = self.game.picture, self.game.core
        if picture is None or not isinstance(core, _core.LudemeGame):
            raise Unsupported(f"{self.game.name} has no board to draw", file=self.game.file)
        return picture.svg(core.pieces(self._block, self._viewer(role)))

    def text(self, role: str | int | None = None) -> str:
        """The board in signs, or the facts; with a role, what that role sees of a ludemic game."""
        picture, core = self.game.picture, self.game.core
        if picture is not None and isinstance(core, _core.LudemeGame):
            return picture.text(core.pieces(self._block, self._viewer(role)))
        if role is not None:
            raise Unsupported(
                "what a role of a GDL game sees is in its percepts", file=self.game.file
            )
        facts = self.facts
        return draw_board(facts, self.game.grid) or "\n".join(facts)

    def _viewer(self, role: str | int | None) -> int:
        """As the core counts players; chance sees everything, like nobody in particular."""
        number = -1 if role is None else self.game.role_number(role)
        return number + 1 if number in self.game.players else 0

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<State of {self.game.name}: {' '.join(self.facts)}>"
