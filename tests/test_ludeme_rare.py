"""Rare rules of ludemic games: what recorded games do not show, as the reference system has it."""

from __future__ import annotations

import pytest

from omnilude.errors import RulesError, Unsupported
from omnilude.games import State
from test_ludeme_games import load_text, make

pytestmark = pytest.mark.sanitize

ADD = "(move Add (to (sites Empty)))"
LINE = "(end (if (is Line 3) (result Mover Win)))"


def mover(state: State) -> int:
    """Number of the role on move; the others have one move, which is to wait."""
    return next(n for n in range(len(state.game.roles)) if moves(state, n) != ["-"])


def moves(state: State, role: int | None = None) -> list[str]:
    role = mover(state) if role is None else role
    return [str(move) for move in state.legal(role)]


def play(state: State, *names: str) -> State:
    for name in names:
        at = mover(state)
        state = state.play([name if n == at else "-" for n in range(len(state.game.roles))])
    return state


def sites_of(region: str, equipment: str = '(board (square 3)) (piece "Man" Each)') -> list[str]:
    """Sites that a rule with the region would fill at first."""
    game = make(
        f"(play (move Add (to {region}))) (end (if (is Line 9) (result Mover Win)))", equipment
    )
    return moves(game.initial())


def test_whoever_exchanges_sides_by_a_move_stays_on_move() -> None:
    rules = f"(play (if (= 1 (count Moves)) (move Swap Players P1 P2) {ADD})) {LINE}"
    state = play(make(rules).initial(), "A1")
    second = mover(state)
    # The roles stay, the sides are exchanged: the colour that was on move is on move again.
    state = play(state, moves(state)[0])
    assert len(moves(state)) == 8
    assert play(state, "B1").terminal is False
    assert mover(state) != second


def test_an_exchange_beside_another_choice_does_not_begin_a_turn() -> None:
    rules = (
        "(play (if (< 1 (count MovesThisTurn)) (move Add (to (sites Bottom))) "
        "(or (move Pass (then (and (swap Players P1 P2) (moveAgain)))) "
        f"{ADD}))) {LINE}"
    )
    state = play(make(rules).initial(), "pass")
    assert set(moves(state)) == {"pass", *(f"{c}{r}" for c in "ABC" for r in "123")}
    state = play(state, "pass")
    assert set(moves(state)) == {"A1", "B1", "C1"}


def test_relative_directions_need_a_piece() -> None:
    rules = f"(play (move Add (to (sites Empty) if:(!= (to) (ahead (to)))))) {LINE}"
    assert moves(make(rules).initial()) == ["pass"]


def test_between_a_site_and_itself_there_is_nothing() -> None:
    assert sites_of("(sites Between from:4 to:4)") == ["pass"]
    assert sites_of("(sites Between from:0 to:2)") == ["B1"]


def test_tracks_from_nowhere_are_taken_from_their_beginning() -> None:
    equipment = '(board (square 3) (track "T" {0 1 2} loop:False)) (piece "Man" Each)'
    assert sites_of('(sites Track "T" from:-1)', equipment) == ["A1", "B1", "C1"]
    assert sites_of('(sites Track "T" from:1 to:2)', equipment) == ["B1", "C1"]
    assert sites_of('(sites Track "T" from:7)', equipment) == ["pass"]


def test_all_pass_at_once() -> None:
    rules = (
        f'(start (place "Man1" 4)) (play (or (move Pass) {ADD})) '
        "(end (if (all Passed) (result P2 Win)))"
    )
    state = play(make(rules).initial(), "pass", "pass")
    assert state.terminal
    assert state.reward == (0.0, 1.0)


def test_groups_ask_about_their_start_with_what_was_before() -> None:
    game = make(
        '(start (place "Man1" {0 4})) (play (forEach Piece (move (from) (to (sites Group at:4 '
        f"if:(= (to) (from))))))) {LINE}"
    )
    assert moves(game.initial()) == ["B2"]  # from A1 the group is empty


def test_walks_turn_within_one_layer() -> None:
    """On a pyramid, right of N is E and not a way down."""
    board = '(board (square 3 pyramidal:True) use:Vertex) (piece "Man" Each)'
    rules = (
        '(start (place "Man1" (sites Layer 0))) (play (if (is Pattern {F R F R F} from:0 '
        f'what:(id "Man" P1)) (move Pass) {ADD})) {LINE}'
    )
    assert moves(make(rules, board).initial()) == ["pass"]


def test_which_of_several_pieces_is_meant_is_not_guessed() -> None:
    start = '(start (place "Man1" {0 8}))'
    there = f'{start} (play (if (!= Off (where "Man" P1)) {ADD})) {LINE}'
    assert len(moves(make(there).initial())) == 7
    which = make(f'{start} (play (move Add (to (ahead (where "Man" P1) N)))) {LINE}')
    with pytest.raises(RulesError, match="of several such pieces"):
        which.initial().legal(0)


def test_an_added_piece_with_effects_is_followed_twice() -> None:
    rules = (
        "(play (or {(move Add (to (sites Empty) (apply (remove 8))))} (then (addScore Mover 1)))) "
        "(end (if (= 2 (score Mover)) (result Mover Win)))"
    )
    state = make(rules).initial()
    assert len(moves(state)) == 18
    assert play(state, "A1").terminal


def test_a_condition_that_held_ends_the_search_among_inner_rules() -> None:
    rules = (
        f"(play {ADD}) (end (if (= 1 (count Moves)) {{ (if True (if False (result P1 Win))) "
        "(if True (result P2 Win)) }))"
    )
    assert not play(make(rules).initial(), "A1").terminal


def test_leaps_ahead_of_a_piece_that_faces_nowhere() -> None:
    game = make(
        '(start (place "Man1" 4)) (play (forEach Piece (move Leap {{F}} forward:True '
        f"(to if:True)))) {LINE}"
    )
    assert sorted(moves(game.initial())) == ["B2-A2", "B2-B1", "B2-B3", "B2-C2"]


def test_levels_alone_make_no_stacks() -> None:
    rules = (
        '(start { (place "Man1" 0) (place "Man2" 1) }) (play (if (= 0 (what at:8 level:0)) '
        "(forEach Piece (move Step (to if:(is Enemy (who at:(to)))))))) "
        "(end (if (= 0 (count Pieces Next)) (result Mover Win)))"
    )
    assert play(make(rules).initial(), "A1-B1").terminal


def test_numbers_that_are_no_sites_may_be_asked_for() -> None:
    rules = f"(play (if (is In 200 (sites {{70 200}})) {ADD})) {LINE}"
    assert len(moves(make(rules).initial())) == 9


def test_where_is_the_piece_of_each_player() -> None:
    equipment = '(board (square 3)) (piece "Pawn" Each) (piece "King" Each)'
    rules = (
        '(start { (place "King1" 0) (place "King2" 8) }) (play (forEach Piece (move Step (to '
        'if:(is Empty (to)))))) (end (forEach Player if:(= Off (where "King" Player)) '
        "(result Player Loss)))"
    )
    assert not play(make(rules, equipment).initial(), "A1-A2").terminal


def test_sow_skips_only_so_many_holes() -> None:
    text = """
    (game "Sow" (players 2)
        (equipment { (mancalaBoard 2 3 store:None { (track "T" {0 1 2 5 4 3} loop:True) })
            (piece "Seed" Shared) })
        (rules
            (start (set Count 1 to:(sites Board)))
            (play (move Select (from (sites Board) if:(< 0 (count at:(from))))
                (then (sow skipIf:True))))
            (end (if (no Moves Next) (result Mover Win)))
        )
    )
    """
    state: State = load_text(text).initial()
    assert not play(state, moves(state)[0]).terminal


REFUSED = [
    (f"(play {ADD}) (end (if (is Connected 0 (sites Bottom)) (result Mover Win)))", "Connected 0"),
    (f"(play (move Add (to (sites Cell 3)))) {LINE}", "sites Cell"),
    (f"(play (move Add (to (sites LastTo)))) {LINE}", "LastTo"),
    (f"(play {ADD}) (end (if (is Line Edge 3) (result Mover Win)))", "on edges"),
    (f"(play (move Add (to (sites Empty)) (then (addScore Each 1)))) {LINE}", "scores of Each"),
    (
        '(start (place Stack "Man1" 0 count:2)) '
        f"(play (move Add (to (sites Empty)) (then (flip 0)))) {LINE}",
        "flip",
    ),
    (f'(start (place "Man1" {{3 3}})) (play {ADD}) {LINE}', "twice"),
    (
        f"(play (or {ADD} (forEach Piece (move Slide (to (apply if:(is Empty (between))))))))"
        f" {LINE}",
        "between",
    ),
]


@pytest.mark.parametrize(("rules", "named"), REFUSED)
def test_what_would_be_played_otherwise_is_refused(rules: str, named: str) -> None:
    with pytest.raises(Unsupported, match=named):
        make(rules)


EQUIPMENT = [
    ('(board (square 3)) (piece "Man" Each) (piece "Far" P5)', "a piece of P5"),
    ('(board (square 3)) (piece "Man" Each) (regions "R" (sites Empty))', "changes in play"),
    ('(board (square 3)) (piece "Man" Each Out)', "face Out"),
    ('(board (square 3)) (piece "Man" Each) (dice num:1 P1) (dice num:1 P2)', "dice of several"),
    ('(board (square 3)) (piece "Man" Each) (map "M" {(pair "Man1" 1)})', "as a key"),
]


@pytest.mark.parametrize(("equipment", "named"), EQUIPMENT)
def test_equipment_that_would_be_read_otherwise_is_refused(equipment: str, named: str) -> None:
    with pytest.raises(Unsupported, match=named):
        make(f"(play {ADD}) {LINE}", equipment)


@pytest.mark.parametrize("asked", ["(no Pieces All)", "(= 0 (count Pieces All))"])
def test_neutral_promotion_is_refused_whoever_asks(asked: str) -> None:
    rules = (
        f'(play (move Add (to (sites Empty)) (then (promote (last To) (piece "Stone0"))))) '
        f"(end (if {asked} (result Mover Win)))"
    )
    with pytest.raises(Unsupported, match="promotion to neutral"):
        make(rules, '(board (square 3)) (piece "Man" Each) (piece "Stone" Neutral)')


def test_owners_that_the_reference_takes_for_others_are_refused() -> None:
    rules = (
        f"(play (if (is Empty 0) {ADD} (move Add (to (sites Empty) if:(= 0 (who at:0)))))) {LINE}"
    )
    with pytest.raises(Unsupported, match="in another order"):
        make(rules, '(board (square 3)) (piece "Stone" Neutral)')


def test_sites_that_are_not_there() -> None:
    """Found by fuzzing: a track that leaves the board was followed into nothing."""
    track = '(board (square 3) (track "T" {0 1 1000000} loop:False)) (piece "Man" Each)'
    with pytest.raises(RulesError, match="the track T has a site that is not there"):
        make(f"(play {ADD}) {LINE}", track)
    with pytest.raises(RulesError, match=r"a whole number is needed, not 1\.5"):
        make(f"(play (move Add (to (sites {{1.5}})))) {LINE}")
    for board in ("(board (hex 100))", "(mancalaBoard 2 1000000)"):
        with pytest.raises(RulesError, match="more than 20000 vertices"):
            make(f"(play {ADD}) {LINE}", f'{board} (piece "Man" Each)')
    away = make(f'(start (place "Man1" -5)) (play {ADD}) {LINE}')
    assert len(moves(away.initial())) == 9


def test_threats_to_sites_far_away_are_none() -> None:
    """Found by fuzzing: what is asked of a site that is nowhere must not write beyond a set."""
    rules = (
        f'(play {ADD}) (end (if (is Threatened (id "Man" Mover) at:1000000 {ADD})'
        " (result Mover Win)))"
    )
    state = make(rules).initial()
    for _ in range(4):
        state = play(state, moves(state)[0])
    assert not state.terminal


def test_what_is_no_role_is_an_error() -> None:
    for rules in (
        f"(play {ADD}) (end (if (is Loop surround:Nobody) (result Mover Win)))",
        f"(start (set Team 1 {{P1 Nobody}})) (play {ADD}) {LINE}",
    ):
        with pytest.raises(RulesError, match="Nobody"):
            make(rules)


def test_seeds_without_number_are_refused() -> None:
    board = '(mancalaBoard 2 6 (track "Track" {0..5 11..6} loop:True)) (piece "Seed" Shared)'
    rules = (
        "(start (set Count {} to:(sites Track)))"
        " (play (move Select (from (sites Track)) (then (sow)))) " + LINE
    )
    make(rules.format(4), board)
    with pytest.raises(Unsupported, match="10,000 pieces"):
        make(rules.format(1000000), board)


def test_pieces_that_are_not_there_are_not_placed() -> None:
    """Found by fuzzing: a number that is no piece's must not be looked up."""
    board = '(board (square 3)) (piece "Queen" Each (move Slide))'
    add = "(move Add (piece {}) (to (sites Empty)))"
    for rules, count in (
        (add.format("99"), 1),  # nothing can be done but to pass
        (add.format("(- 7)"), 1),
        (add.format('(id "Queen" Mover)'), 9),
    ):
        state = make(f"(play {rules}) {LINE}", board).initial()
        assert len(moves(state)) == count
        play(state, moves(state)[0])
    shoot = "(move Shoot (piece 99) (from 4) (to if:(is Empty (to))))"
    state = make(f"(play {shoot}) {LINE}", board).initial()
    assert len(moves(state)) == 1
    one = make(f"(play {ADD}) {LINE}", '(board (square 3)) (piece "A" P1)')
    state = play(one.initial(), moves(one.initial())[0])
    assert len(moves(state)) == 1  # the second player has no piece
    one.playouts(64, seed=1, max_length=50)


def test_equipment_of_whoever_moves_is_refused() -> None:
    for board in ('(board (square 3)) (piece "A" Mover)', "(board (square 3)) (hand Next)"):
        with pytest.raises(Unsupported, match="which changes in play"):
            make(f"(play {ADD}) {LINE}", board)
