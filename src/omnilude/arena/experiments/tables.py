"""RESULTS.md from results/*.json: what the papers report, and what was measured here.

python -m omnilude.arena.experiments.tables
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from omnilude.arena.experiments.ablations import OURS, VARIANTS
from omnilude.arena.experiments.common import RESULTS
from omnilude.arena.experiments.plan import PLANS, Evaluation, Match, list_matches
from omnilude.arena.experiments.published import P3_CLAIMS, P3_GAMES, P3_VARIANTS
from omnilude.arena.experiments.throughput import PEER_RATE, RUNS
from omnilude.arena.experiments.tictactoe import OPPONENTS
from omnilude.arena.experiments.verdicts import GOALS, compare, judge, read_curve
from omnilude.games.statistics import Estimate, format_percent, wilson
from omnilude.networks.files import write_atomically

MISSING = "not measured yet"
HEAD = """# Results

What the papers report beside what was measured here. This page is made from `results/*.json` by
`python -m omnilude.arena.experiments.tables`; do not edit it. The files have every setting, seed,
count and interval. Brackets are 95 % intervals: Wilson's for win rates, bootstrap for mean scores.
Networks that were kept can be played with: `omnilude match results/networks/NAME uct:1000`.
"""
P3_NOTES = """P3's figures are from its text and its Table 1: an Intel Core i7 with a GTX 1060,
hours to days of training, 50 games (25 for games with more than two roles), every player 1 s a
move, mean of three trainings. Its curves (Figures 5 to 11) are not in the text beyond what it says
of them.

Here every player has trained for {minutes} minutes on two cores, from nothing, {trainings}.
Intervals are of the games that it played: another training may differ by more. *GAZ* is P3's
baseline as P3 describes it (all propositions, fully connected, formula (1), {gaz_simulations}
simulations a move in self-play, r = 0.5), on our engine and search. A simulation of ours is a walk
to a new position, which is evaluated under two symmetries of the game, where it has them, and by up
to 48 random playouts, where these were found to count (the files say how many, and how much).
*Without playouts* it is the network's answers alone; with *one evaluation a simulation*, without
symmetries too, it is what a simulation of GAZ's is, but for the size of the network. An iteration
of UCT is a walk and one playout; what it explores weighs sqrt(ln N / n), of rewards from 0 to 1, by
sqrt 1/2. In matches by time each player has as many simulations or iterations as a single game on a
single core would have allowed it in that time; the machine was not always as quick: how many that
were is below each table. P3 does not say how many its UCT had."""


ABLATION_NOTES = """P3 trains for hours and finds the base propositions ahead of all of them, and
the CNN ahead of both. In minutes on two cores it is not so. P3's fully connected network halves
from the input on: over the base propositions alone it has few parameters left. Its CNN costs so
much more that it plays a fraction of the positions."""


class Page:
    """Markdown, and what it could not say."""

    def __init__(self, kept: Iterable[str] = ()) -> None:
        """`kept`: the names of networks that were kept."""
        self.lines: list[str] = [HEAD]
        self.missing: list[str] = []
        self.kept = set(kept)

    def add(self, *lines: str) -> None:
        self.lines += [*lines, ""]

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        self.lines.append("| " + " | ".join(head) + " |")
        self.lines.append("| " + " | ".join(["---"] * len(head)) + " |")
        self.lines += ["| " + " | ".join(row) + " |" for row in rows]
        self.lines.append("")

    def miss(self, what: str) -> str:
        self.missing.append(what)
        return MISSING


def make_page(results: Path) -> str:
    """The whole of RESULTS.md, whatever results there are."""
    page = Page(file.stem for file in (results / "networks").glob("*.json"))
    _write_p3(page, _load(results / "p3.json"))
    _write_ablations(page, _load(results / "ablations.json"))
    _write_throughput(page, _load(results / "throughput.json"), _load(results / "p3.json"))
    _write_tictactoe(page, _load(results / "tictactoe.json"))
    _write_ludemes(page, _load(results / "ludemes.json"))
    page.add("## What is missing")
    page.add("\n".join(f"- {what}" for what in page.missing) or "Nothing that was to be shown.")
    return "\n".join(page.lines).rstrip() + "\n"


def _write_p3(page: Page, data: dict[str, Any]) -> None:
    how = Evaluation(**data["settings"]) if data else Evaluation()
    parts = data.get("parts", {})
    page.add("## P3: six games, ours and GAZ against UCT")
    trained = [part for name, part in parts.items() if "/training " in name]
    minutes = {part["identity"]["training"]["minutes"] for part in trained} or {how.minutes}
    shown = " or ".join(f"{one:g}" for one in sorted(minutes))
    seeds = {game: _list_seeds(parts, game) for game in PLANS}
    several = any(len(found) > 1 for found in seeds.values())
    trainings = "once, or where it says so several times" if several else "once"
    page.add(
        P3_NOTES.format(minutes=shown, gaz_simulations=how.gaz_simulations, trainings=trainings)
    )
    for game, plan in PLANS.items():
        page.add(f"### {game}", P3_GAMES[game])
        rows, notes, absent = [], list[str](), list[str]()
        played: list[tuple[str, Match, dict[str, Any]]] = []
        first, *others = seeds[game]
        for match in list_matches(plan, how):
            part, label = parts.get(match.name(game, first)), match.setting
            published = P3_CLAIMS.get((game, _kind(match), match.subject), "")
            rows.append([label, match.subject, published, *_tally_cells(part)])
            if part is None:
                absent.append(f"{match.subject}, {label}")
            else:
                played.append((label, match, part))
        page.missing += [f"{game}: {what}" for what in (absent if played else ["everything"])]
        head = ["setting", "player", "P3", "win rate, %", "+/=/−", "mean score, % (the other's)"]
        page.table([*head, "by role, % (the other's)"], rows)
        tallies = {match: _first_tally(part) for _, match, part in played}
        for verdict in judge(GOALS[game], tallies) if game in GOALS else ():
            kind = "Beyond the goal" if verdict.match.opened else "Goal"
            notes.append(f"{kind}, {verdict.match.setting}: {verdict.text}")
            curve = parts.get(f"{game}/seed {first}/curve ours")
            if verdict.missed and curve:
                seen = f"by {how.simulations} simulations against UCT {how.iterations}"
                notes[-1] += f"; its curve, {seen}, {read_curve(curve['points'])}"
        for label, match, part in played:
            if match.rivals and match.subject == "ours":
                theirs = part["tallies"][part["contestants"][1]]["all"]
                told = compare(_first_tally(part), "GAZ", theirs)
                notes.append(f"Beyond the goal, {label}: {told}")
        notes += _other_trainings(parts, game, list_matches(plan, how), others)
        notes += _budget_notes([(f"{label}, {m.subject}", part) for label, m, part in played])
        for name, shown in (("ours", "ours"), ("gaz", "GAZ")):
            for seed in seeds[game]:
                notes += _training_notes(page, parts, f"{game}/seed {seed}", name, shown)
        if notes:
            page.add("\n".join(f"- {note}" for note in notes))


def _write_ablations(page: Page, data: dict[str, Any]) -> None:
    parts = data.get("parts", {})
    settings = data.get("settings", {})
    page.add("## P3's ablations: input and network")
    page.add("Numbers that a network reads (P3, Figure 3: base against all propositions).")
    rows = []
    for game in PLANS:
        part = parts.get(f"inputs/{game}")
        if part is None:
            page.miss(f"inputs of {game}")
        keys = ("base", "planes", "all")
        rows.append([game, *(MISSING if part is None else str(part[key]) for key in keys)])
    page.table(["game", "base propositions", "laid out as planes", "all propositions"], rows)
    if settings:
        page.add(
            f"Strength on {settings['game']} after {settings['minutes']:g} minutes of training "
            f"each (P3, Figure 5), {settings['playing']} simulations against UCT with "
            f"{settings['iterations']} iterations; all with the same search "
            f"({settings['simulations']} simulations in self-play) and losses but for the last."
        )
    seeds = sorted({n.split("/")[0] for n in parts if n.startswith("seed")}) or ["seed 0"]
    rows = []
    for variant in (*VARIANTS, OURS):
        for seed in seeds:
            part = parts.get(f"{seed}/{variant}/match")
            trained = parts.get(f"{seed}/{variant}/training")
            if part is None:
                page.miss(f"ablation: {variant}")
            told = trained["summary"] if trained else {}
            sizes = [f"{told[key]:,}" if told else MISSING for key in ("positions", "parameters")]
            cells = _tally_cells(part)[:3]
            version = trained["versions"]["omnilude"] if trained else ""
            rows.append([variant, P3_VARIANTS.get(variant, ""), *cells, *sizes, version])
    head = ["variant", "P3, 1 s each", "win rate, %", "+/=/−", "mean score, % (UCT's)"]
    page.table([*head, "positions played", "parameters", "version"], rows)
    if data:
        page.add(ABLATION_NOTES)
    curves = {name: part for name, part in parts.items() if name.endswith("/curve")}
    if curves:
        page.add(
            "\n".join(
                f"- {name.split('/')[1]}: {_say_curve(part)}; it {read_curve(part['points'])}"
                for name, part in curves.items()
            )
        )


def _write_throughput(page: Page, data: dict[str, Any], p3: dict[str, Any]) -> None:
    parts = data.get("parts", {})
    settings = data.get("settings", {})
    page.add("## Throughput")
    if settings:
        page.add(
            f"{settings['game']}, {settings['simulations']} simulations a move, the default "
            "network (32 channels, 2 blocks); each line a training run of "
            f"{settings['seconds']:g} s on two cores. mctx + pgx with a network of that shape made "
            f"{PEER_RATE} positions a second on such a machine, in self-play alone. *Made* is what "
            "came out of the run; *by the work* is what all workers would make, each with a core "
            "of its own, by the time that their work took: of more than two it is an estimate. "
            "Walks that end in positions evaluated before, or in solved ones, need no evaluation."
        )
        versions = sorted({part["versions"]["omnilude"] for part in parts.values()})
        page.add(f"Measured with version {' and '.join(versions)}.")
    rows = []
    goals = {"self-play alone": f"≥ 600, and ≥ {3 * PEER_RATE} (three times the peer)"}
    names = [*(f"run/{name}" for name in RUNS), *(f"workers/{n}" for n in (1, 2, 4, 8))]
    for name in names:
        kind, label = name.split("/")
        if kind == "workers":
            label = f"{label} worker process{'es' * (label != '1')}, with learning"
        rows.append([label, goals.get(label, ""), *_speed_cells(page, parts.get(name), label)])
    head = [
        "what",
        "goal",
        "positions/s, made",
        "by the work",
        "evaluations a position",
        "engine and search",
        "memory",
    ]
    page.table(head, rows)
    if note := _limit_note(parts):
        page.add(note)
    found = p3.get("parts", {})
    memory = {n: part["summary"]["memory"] for n, part in found.items() if "/training " in n}
    if "connect-four/seed 0/training ours" not in memory:
        page.miss("memory of a 10-minute run")
    else:
        most = max(memory, key=lambda name: memory[name])
        game, player = most.split("/")[0], most.rsplit(" ", 1)[1].replace("gaz", "GAZ")
        page.add(
            f"Memory of the {p3['settings']['minutes']:g}-minute run of connect-four: "
            f"{_gib(memory['connect-four/seed 0/training ours'])} (goal: under 3 GiB); of all runs "
            f"of P3's games {_gib(memory[most])} at most ({player}, {game})."
        )


def _limit_note(parts: dict[str, Any]) -> str:
    """What a cluster would wait for: one learner, which takes steps as positions come."""
    counts = [n for n in (1, 2, 4, 8) if f"workers/{n}" in parts]
    if not counts:
        return ""
    told = [parts[f"workers/{n}"] for n in counts]
    per_step = sum(part["summary"]["positions"] / part["summary"]["steps"] for part in told)
    per_step /= len(told)
    steps = max(part["speed"]["steps_per_second"] for part in told)
    drained = max(part["speed"]["share_drain"] for part in told)
    enough = steps * per_step / told[0]["speed"]["selfplay_positions_per_second"]
    return (
        f"What limits a cluster: one learner makes at most {steps:.0f} steps a second here, one "
        f"for every {per_step:.0f} positions, and so keeps pace with "
        f"{steps * per_step:,.0f} positions a second, what {enough:.1f} workers with a core each "
        "make; more workers need a learner with more cores, or more positions a step. Handing over "
        f"games and weights takes at most {drained:.1%} of a worker's time."
    )


def _write_tictactoe(page: Page, data: dict[str, Any]) -> None:
    page.add("## Does it learn? Tic-tac-toe")
    parts, settings = data.get("parts", {}), data.get("settings", {})
    if settings:
        trained = parts["training"]["versions"]["omnilude"] if "training" in parts else "?"
        page.add(
            f"Trained for {settings['minutes']:g} min by version {trained}, then "
            f"{settings['simulations']} simulations a move. Goal: no game lost. In brackets: the "
            "interval of the share of games lost, where games that repeat count less."
        )
    rows = []
    played = [name.removeprefix("match/") for name in parts if name.startswith("match/")]
    for opponent in dict.fromkeys((*OPPONENTS, *played)):
        part = parts.get(f"match/{opponent}")
        tally = _first_tally(part) if part else None
        if tally is None:
            page.miss(f"tic-tac-toe against {opponent}")
        if part is None or tally is None:
            rows.append([opponent, *[MISSING] * 5])
            continue
        effective = _effective(part)
        lost = wilson(effective / tally["games"] * tally["losses"], effective)
        counts = [str(tally[name]) for name in ("games", "wins", "draws", "losses")]
        counts[-1] += f" [{100 * lost.low:.1f} %, {100 * lost.high:.1f} %]"
        rows.append([opponent, str(part["distinct"]), *counts])
    page.table(["opponent", "different games", "games", "won", "drawn", "lost"], rows)


LUDEME_NOTES = """Random playouts a second on one core, by `make bench`: the median of {rounds}
turns, in the same process and by turns with OpenSpiel's native rollouts. *Reference* is the
reference system for ludemes as it was measured on another day; OpenSpiel, measured on that day too,
now does {machine:.2f} times as much (median of the games), and by that the last ratio is corrected,
as it is by the pace of the machine beside each game: one and the same game of OpenSpiel's is played
beside all. Goals: ten times the reference, and more than OpenSpiel. In brackets: the quartiles."""


def _write_ludemes(page: Page, data: dict[str, Any]) -> None:
    page.add("## Ludemic games: playouts")
    if not data:
        page.add(page.miss("playouts of ludemic games"))
        return
    page.add(LUDEME_NOTES.format(rounds=data["settings"]["rounds"], machine=data["machine"]))
    rows = []
    for row in data["games"]:
        rates = row["playouts_per_second"]
        cells = [row["game"], *(_rate_cell(rates.get(n)) for n in ("omnilude", "openspiel"))]
        cells.append(_ratio_cell(row["to_openspiel"]))
        cells.append(f"{row['reference']:,g}" if row["reference"] else "")
        cells.append(_ratio_cell(row["to_reference"]))
        cells.append(_ratio_cell(row.get("to_reference_corrected")))
        cells.append(f"{row['load_seconds'] * 1000:.0f} ms")
        rows.append([*cells, row["rules"]])
    page.table(
        ["game", "here", "OpenSpiel", "ratio", "reference", "ratio", "corrected", "load",
         "what is different in OpenSpiel"], rows,
    )  # fmt: skip


def _rate_cell(rate: dict[str, Any] | None) -> str:
    if rate is None:
        return ""
    low, high = rate["quartiles"]
    return f"{rate['median']:,.0f} [{low:,.0f}, {high:,.0f}]"


def _ratio_cell(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}x"


def _list_seeds(parts: Iterable[str], game: str) -> list[int]:
    """Those of the trainings of a game; the first one's results are in the table."""
    split = (name.split("/") for name in parts)
    found = {int(seed.removeprefix("seed ")) for of, seed, *_ in split if of == game}
    return sorted(found) or [0]


def _kind(match: Match) -> str:
    """What P3 would have called the setting."""
    if match.rivals:
        return "GAZ" if match.timed else ""
    return match.budget if match.timed and not match.opened else ""


def _first_tally(part: dict[str, Any]) -> dict[str, Any]:
    tallies: dict[str, Any] = part["tallies"][part["contestants"][0]]["all"]
    return tallies


def _effective(part: dict[str, Any]) -> float:
    """Independent games that those of a match are worth; early versions did not count them."""
    return float(_first_tally(part).get("effective", part["distinct"]))


def _tally_cells(part: dict[str, Any] | None) -> list[str]:
    """Win rate, counts, score, and scores by role."""
    if part is None:
        return [MISSING, "", "", ""]
    tally = _first_tally(part)
    # One role against others that have their own interests: its score is all that counts.
    met = not part["settings"]["roles"] and not part["settings"]["together"]
    first, *others = part["contestants"]
    roles = {role: t for role, t in part["tallies"][first].items() if role != "all"}
    shown = []
    for role, told in roles.items() if others else ():
        theirs = part["tallies"][others[0]].get(role)
        against = f" ({_percent(theirs['score']['value'])})" if theirs else ""
        shown.append(f"{role} {_percent(told['score']['value'])}{against}")
    score = _interval(tally["score"])
    if met and others:
        score += f" ({100 * part['tallies'][others[0]]['all']['score']['value']:.1f})"
    return [
        _interval(tally["win_rate"]) if met else "",
        f"{tally['wins']}/{tally['draws']}/{tally['losses']}" if met else f"{tally['games']} games",
        score,
        ", ".join(shown) if len(shown) > 1 else "",
    ]


def _other_trainings(
    parts: dict[str, Any], game: str, matches: Sequence[Match], seeds: Sequence[int]
) -> list[str]:
    """What trainings with other seeds came to, beside the one in the table."""
    notes = []
    for match in matches:
        found = {seed: parts.get(match.name(game, seed)) for seed in seeds}
        told = [
            f"{_interval(_first_tally(part)['score'])} "
            f"(seed {seed}{_say_version(parts, game, seed, match)})"
            for seed, part in found.items()
            if part
        ]
        label = f"{match.setting}, {match.subject}"
        if told:
            times = "another training has" if len(told) == 1 else "other trainings have"
            notes.append(f"{label}: {times} {', '.join(told)}")
        notes += _budget_notes([(f"{label}, seed {s}", part) for s, part in found.items() if part])
    return notes


def _say_version(parts: dict[str, Any], game: str, seed: int, match: Match) -> str:
    """Of what has trained the player whose result a match tells."""
    player = "gaz" if match.subject == "GAZ" else "ours"
    trained = parts.get(f"{game}/seed {seed}/training {player}")
    if trained is None or not match.subject.startswith(("GAZ", "ours")):
        return ""
    return f", version {trained['versions']['omnilude']}"


def _budget_notes(played: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """What time came to in each match, and whether games repeated."""
    notes = []
    for label, part in played:
        if any("fitted_to_seconds" in player for player in part["players"]):
            told = " against ".join(_say_budget(player) for player in part["players"])
            notes.append(f"{label}: {told} a move")
        if (effective := _effective(part)) < part["games"] / 2:
            counted = "effective" in _first_tally(part)  # but not by early versions
            interval = f"that of {effective:.0f}" if counted else "as if all did"
            notes.append(
                f"{label}: {part['distinct']} of {part['games']} games differ, and the interval is "
                f"{interval}"
            )
    return notes


def _say_budget(player: dict[str, Any]) -> str:
    if player["kind"] == "uct":
        return f"{player['iterations']:,} iterations"
    return f"{player['search']['simulations']:,} simulations"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _training_notes(
    page: Page, parts: dict[str, Any], label: str, name: str, shown: str
) -> list[str]:
    notes = []
    training = parts.get(f"{label}/training {name}")
    if training:
        told = training["summary"]
        kept = f"; kept as {training['run']}" if training["run"] in page.kept else ""
        notes.append(
            f"{shown} trained {told['elapsed'] / 60:.1f} minutes by version "
            f"{training['versions']['omnilude']}: {told['games']:,} games, "
            f"{told['positions']:,} positions, {told['steps']:,} steps, "
            f"{told['parameters']:,} parameters{kept}"
        )
    curve = parts.get(f"{label}/curve {name}")
    if curve:
        notes.append(f"{shown} over time, mean score: {_say_curve(curve)}")
    return notes


def _say_curve(part: dict[str, Any]) -> str:
    games = sorted({point["tally"]["games"] for point in part["points"]})
    return (
        ", ".join(
            f"{point['elapsed'] / 60:.1f} min {100 * point['tally']['score']['value']:.0f} %"
            for point in part["points"]
        )
        + f" ({' or '.join(map(str, games))} games each)"
    )


def _speed_cells(page: Page, part: dict[str, Any] | None, label: str) -> list[str]:
    if part is None:
        return [page.miss(f"throughput: {label}"), "", "", "", ""]
    speed = part["speed"]
    memory = _gib(part["summary"]["memory"])
    if part["largest_child_process"] and "worker" in label:
        memory += f" + {_gib(part['largest_child_process'])} a worker"
    return [
        f"{speed['positions_per_second']:,.0f}",
        f"{speed['selfplay_positions_per_second']:,.0f}",
        f"{speed['evaluations'] / speed['positions']:.1f}",
        f"{speed['search_share']:.1%}",
        memory,
    ]


def _interval(estimate: dict[str, float]) -> str:
    return format_percent(Estimate(**estimate))


def _gib(count: int) -> str:
    return f"{count / 2**30:.2f} GiB"


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def main(
    results: Annotated[Path, typer.Option(help="Folder of the JSON files.")] = RESULTS,
    output: Annotated[Path, typer.Option()] = Path("RESULTS.md"),
) -> None:
    """Write RESULTS.md from results/*.json."""
    write_atomically(output, make_page(results).encode())


if __name__ == "__main__":
    typer.run(main)
