"""Games described by ludemes: their engine, its interface, and what is refused."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import omnilude
from omnilude import _core
from omnilude.benchmarks import BenchmarkSettings
from omnilude.cli import app
from omnilude.errors import IllegalMove, RulesError, SettingsError, Unsupported
from omnilude.games import Game
from omnilude.games.conformance import check
from omnilude.games.ludemes import load_ludemes
from omnilude.games.perft import perft
from omnilude.ludeme_benchmarks import correct, make_table, run_benchmarks
from omnilude.rules.library import bundled_games
from omnilude.rules.ludeme.compiler.rules import compile_game
from soak import soak

BUNDLED = bundled_games(".lud")

RACE = """
(game "Race"
    (players 2)
    (equipment {
        (board (rectangle 1 9) {
            (track "Track1" {0..8} P1 directed:True)
            (track "Track2" {8..0} P2 directed:True)
        })
        (dice d:2 from:1 num:2)
        (piece "Runner" Each
            (if (<= 0 (trackSite Move from:(from) steps:(count Pips)))
                (move (from) (to (trackSite Move from:(from) steps:(count Pips))))
            )
        )
    })
    (rules
        (start { (place "Runner1" 0) (place "Runner2" 8) })
        (play (do (roll) next:(forEach Piece)))
        (end (if (= (last To) (if (is Mover P1) 8 0)) (result Mover Win)))
    )
)
"""


def load_text(text: str) -> Game:
    return load_ludemes(text, name="game", file="game.lud")


def make(rules: str, equipment: str = '(board (square 3)) (piece "Man" Each)') -> Game:
    return load_text(f'(game "G" (players 2) (equipment {{ {equipment} }}) (rules {rules}))')


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_games_conform(name: str) -> None:
    report = check(omnilude.load(name), playouts=1, samples=20, max_length=12)
    assert report.passed, str(report)


@pytest.mark.sanitize
def test_tic_tac_toe_ends_as_it_should() -> None:
    game = make("(play (move Add (to (sites Empty)))) (end (if (is Line 3) (result Mover Win)))")
    assert perft(game, 9) == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    state = game.initial()
    for move in ("A1", "A2", "B1", "B2", "C1"):
        mover = next(n for n in (0, 1) if len(state.legal(n)) > 1)
        state = state.play([move if n == mover else "-" for n in (0, 1)])
    assert state.terminal
    assert state.reward == (1.0, 0.0)


def test_who_does_not_move_waits() -> None:
    state = make("(play (move Add (to (sites Empty)))) (end (if (is Line 3) (result Mover Win)))")
    start = state.initial()
    assert [str(move) for move in start.legal("P2")] == ["-"]
    with pytest.raises(IllegalMove):
        start.play(["-", "A1"])


@pytest.mark.sanitize
def test_dice_are_a_role_of_their_own() -> None:
    game = load_text(RACE)
    assert game.roles == ("P1", "P2", "random")
    state = game.initial()
    assert [str(move) for move in state.legal("random")] == [
        "roll 1 1",
        "roll 2 1",
        "roll 1 2",
        "roll 2 2",
    ]
    state = state.play(["-", "-", "roll 2 1"])
    assert [str(move) for move in state.legal("P1")] == ["A1-D1"]
    report = check(game, playouts=5)
    assert report.passed, str(report)


@pytest.mark.sanitize
def test_pieces_know_how_often_they_have_come_to_a_site() -> None:
    """The track comes to B1 twice: first it leads on to C1, then to E1."""
    game = make(
        '(start { (place "Man1" 0) (place "Man2" 5) }) '
        "(play (if (is Mover P1) (forEach Piece (move (from) (to (trackSite Move steps:1))))"
        " (move Pass))) (end (if (is In (last To) (sites {4})) (result Mover Win)))",
        '(board (rectangle 1 6) {(track "Round" {0 1 2 3 1 4} P1 directed:True)})'
        ' (piece "Man" Each)',
    )
    state = game.initial()
    for move in ("A1-B1", "B1-C1", "C1-D1", "D1-B1"):
        assert [str(one) for one in state.legal("P1")] == [move]
        state = state.play([move, "-"]).play(["-", "pass"])
    state = state.play(["B1-E1", "-"])
    assert state.terminal
    assert state.reward == (1.0, 0.0)


def test_ways_by_steps_go_round_what_is_in_the_way() -> None:
    """From A1 over empty cells: B1 to its right is taken, so C1 is six steps away, not two."""
    game = make(
        '(start (place "Man2" {1 4})) (play (move Add (to (sites Empty) if:(= 6'
        " (count Steps (step Orthogonal (to if:(is Empty (to)))) 0 (to))))))"
        " (end (if (is Line 3) (result Mover Win)))"
    )
    assert [str(move) for move in game.initial().legal("P1")] == ["C1"]


def test_lines_longer_than_the_board_take_no_room() -> None:
    play = "(play (move Add (to (sites Empty))))"
    game = make(f"{play} (end (if (is Line 1000000) (result Mover Win)))")
    assert game.playouts(20, seed=1)["finished"] == 20


def test_maps_may_be_two_lists() -> None:
    rules = (
        '(start (place "Man1" 0)) (play (forEach Piece (move (from) (to (mapEntry (from)))))) '
        "(end (if (no Moves Next) (result Mover Win)))"
    )
    pieces = '(board (square 3)) (piece "Man" Each)'
    state = make(rules, f"{pieces} (map {{0 4}} {{4 8}})").initial()
    assert [str(move) for move in state.legal("P1")] == ["A1-B2"]
    with pytest.raises(RulesError, match="2 keys have 1 values"):
        make(rules, f"{pieces} (map {{0 4}} {{4}})")


def test_passing_is_forced_where_nothing_else_can_be_done() -> None:
    game = make(
        "(play (forEach Piece (move Step Forward (to if:(is Empty (to)))))) "
        "(end (if (no Moves Next) (result Mover Win)))"
    )
    assert [str(move) for move in game.initial().legal("P1")] == ["pass"]


@pytest.mark.sanitize
def test_swapping_sides_gives_the_reward_to_the_player() -> None:
    game = make(
        "(meta (swap)) (play (move Add (to (sites Empty)))) "
        "(end (if (is Line 3) (result Mover Win)))"
    )
    state = game.initial().play(["A1", "-"])
    swap = next(str(move) for move in state.legal("P2") if str(move).startswith("pass"))
    state = state.play(["-", swap])
    # The second player has the first mark now, and the first moves again for the other side.
    assert len(state.legal("P1")) == 8
    for first, second in (("A2", "B1"), ("B2", "C1")):
        state = state.play([first, "-"]).play(["-", second])
    assert state.terminal
    assert state.reward == (0.0, 1.0)


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        ("(play (move Fly)) (end (if (is Line 3) (result Mover Win)))", "move Fly"),
        (
            "(play (move Add (to (sites Nowhere)))) (end (if (is Line 3) (result Mover Win)))",
            "Nowhere",
        ),
        (
            "(play (move Add (to (sites Empty)))) (end (if (is Sunny) (result Mover Win)))",
            "is Sunny",
        ),
    ],
)
def test_what_is_not_supported_is_refused_by_name(rules: str, missing: str) -> None:
    with pytest.raises(RulesError) as caught:
        make(rules)
    assert missing.split()[-1] in str(caught.value)
    assert "game.lud:1" in str(caught.value)


def test_random_ludemes_are_refused() -> None:
    with pytest.raises(Unsupported, match="Random"):
        make(
            '(start (place Random {"Man1"})) (play (move Add (to (sites Empty)))) '
            "(end (if (is Line 3) (result Mover Win)))"
        )


@pytest.mark.sanitize
def test_names_of_moves_are_found_again() -> None:
    game = load_text(RACE)
    for role in range(3):
        for slot in (0, 1, 2, 3, 65, 130):
            if slot < game.slots(role):
                name = game.core.move_name(role, slot)
                assert game.core.find_move(role, name) == slot


@given(st.integers(0, 2**32), st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_batches_are_single_states_side_by_side(seed: int, plies: int) -> None:
    game = load_text(RACE)
    random = np.random.default_rng(seed)
    states = game.initial_states(5)
    for _ in range(plies):
        batch = game.describe(states)
        if batch.terminal.any():
            break
        moves = np.array(
            [[random.choice(batch.legal(i, role)) for role in range(3)] for i in range(5)],
            dtype=np.int32,
        )
        single = [states[i : i + 1].copy() for i in range(5)]
        game.advance(states, moves)
        for i, state in enumerate(single):
            game.advance(state, moves[i : i + 1])
            assert (state[0] == states[i]).all()


def test_states_are_drawn() -> None:
    game = make("(play (move Add (to (sites Empty)))) (end (if (is Line 3) (result Mover Win)))")
    state = game.initial().play(["B2", "-"]).play(["-", "C3"])
    assert str(state) == ". . O\n. X .\n. . ."
    picture = ElementTree.fromstring(state.svg())
    kinds = [element.tag.rpartition("}")[2] for element in picture.iter()]
    assert kinds.count("polygon") == 9
    assert kinds.count("circle") == 2


def test_options_choose() -> None:
    game = omnilude.load("hex", options={"Board Size": "5x5", "Swap": "Off"})
    assert len(game.initial().legal("P1")) == 25
    with pytest.raises(SettingsError, match="11x11"):
        omnilude.load("hex", options={"Board Size": "6 by 6"})
    with pytest.raises(RulesError):
        omnilude.load("tic-tac-toe", options={"Board Size": "5x5"})


def table_of(name: str, seed: int = 1) -> _core.LudemeTable:
    program = omnilude.load(name).ludemes
    assert program is not None
    _, encoded = compile_game(program.description.game)
    return _core.LudemeTable(encoded.symbols, encoded.array.tolist(), seed)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", BUNDLED)
def test_moves_can_be_drawn_exactly_as_they_are_listed(name: str) -> None:
    """Random play draws numbers that stand for one move each, or for none."""
    table = table_of(name)
    random = np.random.default_rng(1)
    for _ in range(12):
        if table.scalars()["over"]:
            break
        count = table.count_moves()
        listed = sorted(table.move(n)[:2] for n in range(count))
        drawn = table.drawn()
        if name != "backgammon":  # dice are rolled again
            assert sorted(table.plain()) == listed
        # Passing where nothing can be done is offered beside the rules.
        if drawn is not None and listed != [(-1, -1)]:
            assert sorted(drawn) == listed
        table.play(int(random.integers(table.count_moves())))  # dice are rolled again


@pytest.mark.parametrize(
    "name",
    [
        "backgammon",
        "amazons",
        "english-draughts",
        "fanorona",
        "feed-the-ducks",
        "havannah",
        "konane",
        "lasca",
        "ghosts",
    ],
)
def test_random_plies_are_as_likely_as_their_moves(name: str) -> None:
    """Whether they are drawn by numbers, picked or listed."""
    table = table_of(name)
    random = np.random.default_rng(3)
    least = {"havannah": 100, "backgammon": 0}.get(name, 6)
    while table.scalars()["plies"] < least or table.count_moves() < 4:
        table.play(int(random.integers(table.count_moves())))
    if name == "backgammon":
        table.set_roll([1, 4])
    before = table.state
    results = []
    for n in range(table.count_moves()):
        table.state = before
        table.count_moves()
        table.play(n)
        results.append(table.state)
    assert len(results) > 3
    tries = 200 * len(results)
    seen = dict.fromkeys(results, 0)
    for _ in range(tries):
        table.state = before
        table.play_random()
        seen[table.state] += 1  # nothing else may come of it
    for state, count in seen.items():
        share = results.count(state) / len(results)
        assert abs(count - tries * share) < 6 * (tries * share) ** 0.5


@pytest.mark.sanitize
@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "backgammon"])
def test_moves_do_the_same_whether_or_not_what_they_do_is_noted(name: str) -> None:
    """Effects that nobody asks for one by one may be done at once."""
    table = table_of(name)
    random = np.random.default_rng(4)
    for _ in range(16):
        if table.scalars()["over"]:
            break
        before = table.state
        number = int(random.integers(table.count_moves()))
        table.play(number, noted=True)
        noted = table.state
        table.state = before
        table.count_moves()
        table.play(number)
        assert table.state == noted


FILLED = {
    "a role": ("(is Connected Mover)", "(square 5)"),
    "sides": ("(is Connected 3 Sides)", "(hex Triangle 5)"),
    "corners": ("(or (is Connected 2 Corners) (is Connected 3 SidesNoCorners))", "(hex 3)"),
    "regions": ("(is Connected {(sites Top) (sites Bottom) (sites Left)})", "(square 4)"),
    "one way": ("(is Connected N {(sites Top) (sites Bottom)})", "(square 3)"),
    "two ways": ("(is Connected {N E} {(sites Top) (sites Bottom)})", "(square 3)"),
    "orthogonally": ("(is Connected Orthogonal Mover)", "(square 4)"),
    "a while later": (
        "(and (> (count Pieces Mover) 5) (is Connected {(sites Top) (sites Right)}))",
        "(square 4)",
    ),
    "a loop or": ("(or (is Loop) (is Connected 2 Corners))", "(hex 3)"),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("swap", ["", "(meta (swap))"])
@pytest.mark.parametrize("name", FILLED)
def test_boards_that_are_filled_end_as_they_do_move_by_move(name: str, swap: str) -> None:
    """Groups are kept from ply to ply, then."""
    condition, board = FILLED[name]
    pieces = '(piece "Man" Each)'
    if "Connected Mover" in condition or "Orthogonal Mover" in condition:
        pieces += "(regions P1 {(sites Top) (sites Bottom)})"
        pieces += "(regions P2 {(sites Left) (sites Right)})"
    game = make(
        f"{swap} (play (move Add (to (sites Empty)))) (end (if {condition} (result Mover Win)))",
        f"(board {board}) {pieces}",
    )
    assert game.ludemes is not None
    _, encoded = compile_game(game.ludemes.description.game)
    code = encoded.array.tolist()
    ends = 0
    for seed in range(6):
        moves = _core.LudemeTable(encoded.symbols, code, seed)
        for plies in range(100):
            if moves.scalars()["over"]:
                ends += 1
                break
            expected = set()
            before = moves.state
            for n in range(moves.count_moves()):
                moves.play(n)
                expected.add(moves.state)
                moves.state = before
                moves.count_moves()
            whole = _core.LudemeTable(encoded.symbols, code, seed)
            assert whole.playout(plies + 1) == plies + 1
            assert whole.state in expected
            moves.state = before  # and from the midst of a game
            assert moves.playout(1) == 1
            assert moves.state in expected
            moves.state = whole.state
    assert ends == 6


def test_what_is_hidden_goes_with_the_piece() -> None:
    state = omnilude.load("ghosts").initial()
    assert "Hand1.1: Good1 count 4" in state.percepts("P1")
    assert "Hand1.1: ? of P1 count 4" in state.percepts("P2")
    assert "Hand2.2: Evil2 count 4" in state.percepts("P2")
    random = np.random.default_rng(1)
    for _ in range(24):
        legal = [state.legal(role) for role in ("P1", "P2")]
        state = state.play([moves[random.integers(len(moves))] for moves in legal])
    for viewer, other in (("P1", "P2"), ("P2", "P1")):
        seen = state.percepts(viewer)
        assert len(seen) == len(state.facts)
        assert not [fact for fact in seen if f"Good{other[1]}" in fact or f"Evil{other[1]}" in fact]
        assert [fact for fact in seen if fact.endswith(f"? of {other}")]
        assert state.text(viewer).count("?") == state.svg(viewer).count(">?<") == 8
    assert "?" not in state.text()
    assert str(state) == state.text()


def test_a_ring_is_seen_whichever_stone_closes_it() -> None:
    game = omnilude.load("havannah", options={"Board Size": "5x5"})
    ring, elsewhere = ["D5", "E6", "F6", "F5", "E4", "D4"], ["A1", "B1", "C1", "A2", "C2", "D2"]
    assert check_ring(game, ring[1:] + ring[:1], elsewhere)  # so these six are one
    for n in range(6):
        assert check_ring(game, ring[n:] + ring[:n], elsewhere)


def check_ring(game: Game, ring: list[str], elsewhere: list[str]) -> bool:
    state = game.initial()
    for mine, other in zip(ring, elsewhere, strict=True):
        assert not state.terminal
        state = state.play([mine, "-"])
        if not state.terminal:
            state = state.play(["-", other])
    return state.terminal and state.reward == (1.0, 0.0)


def test_empty_sites_may_be_shut_in() -> None:
    rules = (
        '(start (place "Man2" 1)) (play (move Add (to (sites Empty)) (then (enclose Orthogonal'
        " (between if:{} (apply (remove (between)))))))) (end (if (is Line 3) (result Mover Win)))"
    )
    board = '(board (rectangle 1 4)) (piece "Man" Each)'
    enemy, anything = "(is Enemy (who at:(between)))", "(not (is Friend (who at:(between))))"
    left = make(rules.format(enemy), board).initial().play(["C1", "-"])
    assert "B1: Man2" in left.facts
    taken = make(rules.format(anything), board).initial().play(["C1", "-"])
    assert "B1: Man2" not in taken.facts


def test_hidden_pieces_are_refused_where_they_would_count() -> None:
    hidden, play = "(set Hidden What (sites Board) to:P2)", "(play (forEach Piece))"
    end = "(end (if (no Moves Next) (result Mover Win)))"
    make(f"(start {hidden}) {play} {end}")
    for rules in (
        f"(meta (no Repeat)) (start {hidden}) {play}",
        f'(start {{{hidden} (place Stack "Man1" 0)}}) {play}',
        f"(start {hidden}) (play (forEach Piece (then (remember State))))",
    ):
        with pytest.raises(Unsupported, match="hidden"):
            make(f"{rules} {end}")


@pytest.mark.parametrize("name", ["chinese-checkers", "minishogi", "nine-mens-morris"])
def test_random_play_depends_on_the_seed_alone(name: str) -> None:
    """Not on where in memory the rules are, nor on what was played before, nor on threads."""
    games = [omnilude.load(name) for _ in range(3)]
    games[0].playouts(3, seed=9)
    results = [game.playouts(16, seed=5, threads=n + 1) for n, game in enumerate(games)]
    assert results[0] == results[1] == results[2]


@pytest.mark.sanitize
@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "backgammon"])
def test_sites_that_can_be_moved_to_are_those_of_the_moves(name: str) -> None:
    """Threats and stalemates are found without making moves."""
    table = table_of(name)
    random = np.random.default_rng(2)
    for _ in range(16):
        if table.scalars()["over"]:
            break
        quick, listed = table.reach()
        assert quick == listed
        table.play(int(random.integers(table.count_moves())))


def test_training_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    run = tmp_path / "run"
    result = CliRunner().invoke(app, ["train", "hex", "--run", str(run)])
    assert result.exit_code == 1
    assert "described by ludemes" in result.output
    assert not run.exists()


@pytest.mark.sanitize
def test_random_play_of_all_games() -> None:
    made = soak(4000)
    assert set(made) == set(BUNDLED)
    assert sum(made.values()) >= 4000


def test_speeds_are_measured() -> None:
    results = run_benchmarks(BenchmarkSettings(rounds=1, seconds=0.01), ["squava"])
    (row,) = results["games"]
    assert row["to_reference"] == pytest.approx(
        row["playouts_per_second"]["omnilude"]["median"] / row["reference"]
    )
    assert make_table(results).row_count == 1
    with pytest.raises(SettingsError, match="no benchmark"):
        run_benchmarks(games=["solitaire"])


def test_speeds_are_corrected_by_the_pace_of_the_machine() -> None:
    """Half the speed in the second minute is the machine's doing, not the game's."""
    rows = [
        {"pace": 100.0, "machine": 0.8, "to_reference": 8.0},
        {"pace": 50.0, "machine": None, "to_reference": 4.0},
        {"pace": 100.0, "machine": None, "to_reference": None},
    ]
    assert correct(rows) == pytest.approx(0.8)
    assert [row["pace"] for row in rows] == [1.0, 0.5, 1.0]
    assert [row["to_reference_corrected"] for row in rows[:2]] == pytest.approx([10.0, 10.0])
    without: list[dict[str, float | None]] = [{"pace": None, "machine": None, "to_reference": 3.0}]
    assert correct(without) == 1.0
    assert without[0]["to_reference_corrected"] == 3.0
