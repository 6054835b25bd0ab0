"""Matches: many games side by side, so that every player decides for all its games in one batch.

Games are played at tables of a fixed size, and threads take one table after another. So a match
depends on its settings alone, not on the number of threads or on what else the machine does, with
one exception: for players that think by the clock it is measured, when the match begins, how much
they manage in their time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnilude.arena.players import Player, Positions
from omnilude.arena.results import ENDS, MatchResult, unique_names
from omnilude.arena.seating import list_seatings, seat_first, seat_together
from omnilude.errors import SettingsError
from omnilude.fields import check_fields
from omnilude.games import Batch, Game
from omnilude.games.chance import count_legal, draw_uniform, pick_moves
from omnilude.training.selfplay import derive_seed
from omnilude.training.workers import count_cores

Progress = Callable[[int, int], None]
"""Is told how many games have ended, and of how many."""
FINISHED, CUT, STUCK = range(len(ENDS))
OPENING_PLIES = 4
"""Two leave some games no more than fifty openings: a match would repeat itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSettings:
    """How a match is played."""

    games: int = 100
    """Games in all; rounded up, so that every seating is played equally often."""
    seed: int = 0
    """The same seed, the same games."""
    roles: tuple[str, ...] = ()
    """Roles that the first contestant plays, against the second; empty: all seatings."""
    together: bool = False
    """Each contestant plays all roles of its own games: for games that are played together."""
    random_plies: int | None = None
    """Random moves at the start of a game, the same for all seatings of a round. Unset: 4 where
    contestants meet and nothing else would make games differ (no chance, no player with
    randomness), else 0."""
    max_length: int = 1000
    """A game that gets so long is cut."""
    cut_reward: float = 0.5
    """What every role gets for a game that was cut. Where a role has no legal move, nobody gets
    anything: so it is in the search, too."""
    batch: int = 64
    """Greatest number of games that are played side by side, by one thread."""
    threads: int = 0
    """0: as many as there are cores that may be used."""

    def __post_init__(self) -> None:
        check_fields(self, at_least={1: "games max_length batch"}, shares="cut_reward")
        if self.roles and self.together:
            raise SettingsError("a match is played together or by roles, not both")


class _Ended(NamedTuple):
    """A game that is over."""

    number: int
    rewards: NDArray[np.float64]  # [players]
    length: int
    end: int
    digest: bytes  # of the moves


@dataclass(slots=True)
class _Games:
    """The games that are under way at a table."""

    numbers: NDArray[np.int64]  # [live]
    states: NDArray[np.uint8]  # [live, state_bytes]
    plies: NDArray[np.int64]  # [live]
    moves: list[list[bytes]]  # [live]: what was played


def play_match(
    game: Game,
    players: Sequence[Player],
    settings: MatchSettings | None = None,
    *,
    progress: Progress | None = None,
) -> MatchResult:
    """Plays all games of a match between players of this game."""
    settings = settings or MatchSettings()
    start = time.perf_counter()
    seatings = _choose_seatings(game, len(players), settings)
    rounds = -(-settings.games // len(seatings))
    total = rounds * len(seatings)
    seats = np.array([seatings[n % len(seatings)] for n in range(total)], dtype=np.int32)
    opening = settings.random_plies
    if opening is None:
        certain = all(player.deterministic for player in players) and not any(game.chance)
        opening = OPENING_PLIES if certain and rounds > 1 and not settings.together else 0
    tables = np.array_split(np.arange(total), -(-total // settings.batch))
    threads = min(settings.threads or count_cores(), len(tables))
    waiting, stop = SimpleQueue[NDArray[np.int64]](), Event()
    for table in tables:
        waiting.put(table)
    ended: list[_Ended] = []
    lock = Lock()

    def tell(game_over: _Ended) -> None:
        with lock:
            ended.append(game_over)
            if progress:
                progress(len(ended), total)

    def work(referee: _Referee) -> None:
        while not stop.is_set():
            try:
                table = waiting.get_nowait()
            except Empty:
                return
            referee.play(table, tell, stop)

    seeds = [derive_seed(settings.seed, 1, place) for place in range(len(players))]
    referees = [
        _Referee(
            game=game,
            players=[player.fork(seed) for player, seed in zip(players, seeds, strict=True)],
            settings=settings,
            seats=seats,
            seatings=len(seatings),
            opening=opening,
        )
        for _ in range(threads)
    ]
    with ThreadPoolExecutor(threads) as executor:
        futures = [executor.submit(work, referee) for referee in referees]
        try:
            for future in as_completed(futures):
                future.result()
        finally:
            stop.set()  # an interrupt, or an error in one thread, ends the others too
    ended.sort(key=lambda e: e.number)
    numbers: dict[bytes, int] = {}  # of different sequences of moves
    return MatchResult(
        game=game.name,
        contestants=unique_names([player.name for player in players]),
        roles=tuple(game.roles[role] for role in game.players),
        seats=seats,
        rewards=np.array([e.rewards for e in ended]),
        lengths=np.array([e.length for e in ended], dtype=np.int32),
        ends=np.array([e.end for e in ended], dtype=np.int32),
        sequences=np.array(
            [numbers.setdefault(e.digest, len(numbers)) for e in ended], dtype=np.int32
        ),
        settings={**asdict(settings), "random_plies": opening, "threads": threads},
        players=tuple({"name": p.name, **p.describe()} for p in referees[0].players),
        seconds=time.perf_counter() - start,
    )


def _choose_seatings(
    game: Game, contestants: int, settings: MatchSettings
) -> list[tuple[int, ...]]:
    count = len(game.players)
    if settings.together:
        return seat_together(contestants, count)
    if settings.roles:
        if contestants != 2:
            raise SettingsError(f"a match by roles is between two, not {contestants}")
        for role in settings.roles:
            if role not in game.roles or game.chance[game.roles.index(role)]:
                known = ", ".join(game.roles[number] for number in game.players)
                raise SettingsError(f"{game.name} has no player {role!r}, only {known}")
        wanted = [game.players.index(game.roles.index(role)) for role in settings.roles]
        return seat_first(wanted, count)
    return list_seatings(contestants, count)


@dataclass(slots=True, kw_only=True)
class _Referee:
    """Leads the games of one table after another, with players of its own."""

    game: Game
    players: list[Player]
    settings: MatchSettings
    seats: NDArray[np.int32]  # [all games, players]
    seatings: int
    opening: int

    def play(self, numbers: NDArray[np.int64], tell: Callable[[_Ended], None], stop: Event) -> None:
        """Plays the games of a table; `tell` is told of each when it ends."""
        for player in self.players:
            player.begin()
        games = _Games(
            numbers,
            self.game.initial_states(len(numbers)),
            np.zeros_like(numbers),
            [[] for _ in numbers],
        )
        while len(games.numbers) and not stop.is_set():
            self._step(games, tell)

    def _step(self, games: _Games, tell: Callable[[_Ended], None]) -> None:
        """Takes out the games that have ended, and plays a joint move in the others."""
        batch = self.game.describe(games.states)
        legal = count_legal(batch)
        stuck = ~batch.terminal & (legal == 0).any(axis=1)
        cut = games.plies >= self.settings.max_length
        over = batch.terminal | stuck | cut
        for place in np.flatnonzero(over).tolist():
            rewards = batch.rewards[place, list(self.game.players)].astype(np.float64)
            end = FINISHED if batch.terminal[place] else STUCK if stuck[place] else CUT
            if end != FINISHED:
                rewards[:] = self.settings.cut_reward if end == CUT else 0.0
            digest = hashlib.blake2b(b"".join(games.moves[place]), digest_size=16).digest()
            number, length = int(games.numbers[place]), int(games.plies[place])
            tell(_Ended(number, rewards, length, end, digest))
        if over.any():
            live = ~over
            games.numbers, games.plies = games.numbers[live], games.plies[live]
            games.states = games.states[live]
            games.moves = [moves for moves, on in zip(games.moves, live, strict=True) if on]
            if not live.any():
                return
            batch = self.game.describe(games.states)
        moves = self._choose(games, batch)
        for played, joint in zip(games.moves, moves, strict=True):
            played.append(joint.tobytes())
        self.game.advance(games.states, moves)
        games.plies += 1

    def _choose(self, games: _Games, batch: Batch) -> NDArray[np.int32]:
        """[live, roles]: by chance, by necessity, or by the players."""
        roles = np.arange(len(self.game.roles), dtype=np.uint64)
        opening = games.plies < self.opening
        # In the opening all games of a round draw the same numbers.
        luck = np.where(opening, games.numbers // self.seatings, games.numbers)
        names = (luck.astype(np.uint64), games.plies.astype(np.uint64))
        chances = draw_uniform(
            derive_seed(self.settings.seed, 0), names[0][:, None], names[1][:, None], roles
        )
        moves = pick_moves(batch, chances)
        legal = count_legal(batch)
        seats = self.seats[games.numbers]
        streams = (games.numbers.astype(np.uint64) << np.uint64(32)) | names[1]
        for number, player in enumerate(self.players):
            plays = np.zeros(legal.shape, dtype=np.bool_)
            plays[:, list(self.game.players)] = seats == number
            decides = plays & (legal > 1) & ~opening[:, None]
            asked = np.flatnonzero(decides.any(axis=1))
            if not len(asked):
                continue
            chosen = player.choose(
                Positions(
                    states=np.ascontiguousarray(games.states[asked]),
                    batch=_select(batch, asked),
                    plays=plays[asked],
                    streams=streams[asked],
                    plies=games.plies[asked].astype(np.uint32),
                )
            )
            moves[asked] = np.where(decides[asked], chosen, moves[asked])
        return moves


def _select(batch: Batch, places: NDArray[np.int64]) -> Batch:
    """The description of some of the states."""
    roles = batch.rewards.shape[1]
    ends = batch.offsets.astype(np.int64)
    rows = (places[:, None] * roles + np.arange(roles)).ravel()
    counts = ends[rows + 1] - ends[rows]
    offsets = np.append(0, counts.cumsum())
    source = np.repeat(ends[rows] - offsets[:-1], counts) + np.arange(offsets[-1])
    return Batch(
        batch.terminal[places],
        batch.rewards[places],
        offsets.astype(np.uint32),
        batch.moves[source],
        0,
    )
