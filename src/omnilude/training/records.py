"""Finished games as plain values, for the games folder of a run."""

from __future__ import annotations

from typing import Any

from omnilude.search.pool import GameRecords


def describe_games(records: GameRecords, most: int) -> list[dict[str, Any]]:
    """The first `most` games: the moves of all roles and the states they were made in.

    Positions in which nobody had a choice are passed over by self-play, and are not here; that is
    why the states are.
    """
    described = []
    for number in range(max(0, min(most, records.games))):
        first, last = (int(offset) for offset in records.game_offsets[number : number + 2])
        described.append(
            {
                "game": int(records.game_numbers[number]),
                "rewards": [round(float(reward), 4) for reward in records.rewards[number]],
                "cut": bool(records.cut[number]),
                "moves": records.moves[first:last].tolist(),  # [positions][roles], slots
                "states": [row.tobytes().hex() for row in records.states[first:last]],
                "final": records.final_states[number].tobytes().hex(),
            }
        )
    return described
