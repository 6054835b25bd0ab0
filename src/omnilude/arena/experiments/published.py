"""What P3 itself reports, as far as its text and tables say it; figures that are only in its
pictures are not guessed."""

from __future__ import annotations

P3_GAMES = {
    "connect-four": "Goal: ≥ 95 % against UCT. P3: Connect-4, Table 1, Figures 5 and 7.",
    "breakthrough-6x6": (
        "Goal: ≥ 98 % against UCT, and 100 % where UCT thinks four times as long. P3: "
        "Breakthrough, Table 1, Figures 6 and 8."
    ),
    "pacman-3p": (
        "Score of pacman against two ghosts of UCT; goal: ahead of UCT and GAZ. P3: Pacman 3p, "
        "Table 1 and Figure 9 (total over 25 games, here as a mean)."
    ),
    "tower": (
        "Three builders, all played by the same player; goal: a perfect score every time. P3: "
        "Babel, Table 1 and Figure 10; its rulesheet is not available, tower is our model of it."
    ),
    "connect-four-3p": (
        "Score of red, the most disadvantaged side, against UCT; goal: ahead of UCT and GAZ. P3: "
        "ConnectFour 3p, Figure 11."
    ),
    "tic-tac-toe-3d-3": "Goal: never below UCT. P3: TicTacToe 3d (3x3x3), no figures given.",
    "tic-tac-toe-3d-4": "Goal: never below UCT. P3 did not play this size.",
}
"""What was to be shown, and where P3 has it."""

P3_CLAIMS: dict[tuple[str, str, str], str] = {
    ("connect-four", "time", "ours"): "95 %",
    ("connect-four", "", "GAZ"): "70 % (1 s each)",
    ("connect-four", "GAZ", "ours"): "100 % after 60 hours",
    ("breakthrough-6x6", "time", "ours"): "100 %",
    ("breakthrough-6x6", "", "GAZ"): "100 % (1 s each), about 90 % (UCT 4 s)",
    ("breakthrough-6x6", "slow", "ours"): "100 %",
    ("breakthrough-6x6", "GAZ", "ours"): "100 % after 18 hours",
    ("pacman-3p", "time", "ours"): "above GAZ (Figure 9)",
    ("pacman-3p", "time", "GAZ"): "17.6 % (4.4 of 25)",
    ("pacman-3p", "time", "UCT"): "12.8 % (3.2 of 25)",
    ("tower", "time", "ours"): "100 % (25 of 25)",
    ("tower", "time", "GAZ"): "50 % (12.5 of 25)",
    ("tower", "time", "UCT"): "76 % (19 of 25)",
    ("connect-four-3p", "time", "ours"): "above GAZ (Figure 11)",
    ("connect-four-3p", "time", "GAZ"): "above UCT (Figure 11)",
    ("connect-four-3p", "time", "UCT"): "lowest (Figure 11)",
    ("tic-tac-toe-3d-3", "time", "ours"): "wins moving first, strong second",
    ("tic-tac-toe-3d-3", "", "GAZ"): "wins moving first, strong second (1 s each)",
    ("tic-tac-toe-3d-3", "GAZ", "ours"): "a draw",
}
"""By game, setting and player: in P3 everybody has 1 s a move ('slow': UCT 4 s). Where GAZ is not
played by time here, what it did in P3 stands beside what it does by simulations ('')."""

P3_VARIANTS = {
    "all propositions, fully connected": "70 %",
    "base propositions, fully connected": "nearly 10 % more",
    "base propositions, CNN": "95 %",
}
"""Its Figure 5, as far as the text gives figures."""
