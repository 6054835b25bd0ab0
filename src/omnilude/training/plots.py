"""Curves of a run: PNG files, and one HTML page that needs no other file."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from omnilude.networks.files import write_atomically
from omnilude.training.display import clock
from omnilude.training.options import list_options
from omnilude.training.progress import summarise_speed
from omnilude.training.run import load_metrics, load_settings, load_state
from omnilude.training.selfplay import Times
from omnilude.training.settings import TrainingSettings

Lines = list[dict[str, Any]]

LOSSES = {
    "policy_loss": "policy",
    "policy_divergence": "policy, beyond the targets' entropy",
    "value_loss": "value",
    "reply_loss": "reply",
    "final_loss": "final",
}
COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#66547a", "#555555")

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em;
       color: #222; background: #fff }
h1, h2 { font-weight: 600 } table { border-collapse: collapse }
td { padding: .15em 1.2em .15em 0; vertical-align: top; font-variant-numeric: tabular-nums }
svg { max-width: 100%; height: auto } .changed { font-weight: 600 } small { color: #666 }
"""


def draw_plots(folder: Path) -> tuple[Path, ...]:
    """Writes losses.png, strength.png (where the run was assessed), speed.png and report.html."""
    metrics = load_metrics(folder)
    figures = _figures(metrics)
    paths = []
    for name, (png, _) in figures.items():
        paths.append(folder / f"{name}.png")
        write_atomically(paths[-1], png)
    paths.append(folder / "report.html")
    svgs = {name: svg.decode() for name, (_, svg) in figures.items()}
    write_atomically(paths[-1], _report(folder, metrics, svgs).encode())
    return tuple(paths)


def _figures(metrics: Lines) -> dict[str, tuple[bytes, bytes]]:
    """losses, strength and speed as PNG and SVG; those for which there is nothing are left out."""
    scores = sorted({name for line in metrics for name in line if name.startswith("score/")})
    rate = "positions a second"
    figures = {
        "losses": _draw(metrics, LOSSES, "loss"),
        "strength": _draw(metrics, {n: n.removeprefix("score/") for n in scores}, "score", top=1.0),
        "speed": _draw(metrics, {"positions_per_second": rate}, rate),
    }
    return {name: figure for name, figure in figures.items() if figure}


def _draw(
    metrics: Lines, names: Mapping[str, str], label: str, top: float | None = None
) -> tuple[bytes, bytes] | None:
    # No pyplot: it keeps global state and may want a screen.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    curves = {
        text: [(line["elapsed"] / 60, line[name]) for line in metrics if name in line]
        for name, text in names.items()
    }
    curves = {text: points for text, points in curves.items() if points}
    if not curves:
        return None
    figure = Figure(figsize=(8, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for (text, points), colour in zip(curves.items(), cycle(COLOURS), strict=False):
        times, values = zip(*points, strict=True)
        marker = "o" if len(points) < 40 else None
        axes.plot(times, values, color=colour, label=text, marker=marker, ms=3)
    axes.set_xlabel("minutes")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0, top=top and top * 1.02)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    png, svg = io.BytesIO(), io.BytesIO()
    figure.savefig(png, format="png", dpi=110)
    figure.savefig(svg, format="svg", metadata={"Date": None})  # the same run, the same bytes
    return png.getvalue(), svg.getvalue()


def _report(folder: Path, metrics: Lines, pictures: Mapping[str, str]) -> str:
    state, settings = load_state(folder), load_settings(folder) or TrainingSettings()
    title = f"Training run {html.escape(folder.name)}"
    parts = [f"<h1>{title}</h1>"]
    if state:
        parts.append(
            _table(
                [
                    ("time", clock(state.elapsed)),
                    ("games", f"{state.games:,}"),
                    ("positions", f"{state.positions:,}"),
                    ("steps of learning", f"{state.steps:,}"),
                    ("iterations", f"{state.iteration:,}"),
                    *_averages(metrics),
                    *((f"score: {name}", f"{score:.1%}") for name, score in state.scores.items()),
                ]
            )
        )
    for name, svg in pictures.items():
        parts += [f"<h2>{name.capitalize()}</h2>", svg[svg.index("<svg") :]]
    parts += ["<h2>Settings</h2>", "<p><small>Bold: not the default.</small></p>"]
    parts.append(_settings_table(settings))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</html>\n"
    )


def _averages(metrics: Lines) -> list[tuple[str, str]]:
    speed = summarise_speed(metrics)
    if not speed:
        return []
    return [
        ("positions a second", f"{speed['positions_per_second']:,.0f}"),
        ("in self-play, were it alone", f"{speed['selfplay_positions_per_second']:,.0f}"),
        *((f"self-play: {p}", f"{speed[f'share_{p}']:.1%}") for p in Times.__slots__),
    ]


def _settings_table(settings: TrainingSettings) -> str:
    rows = []
    for option in list_options(TrainingSettings):
        value = getattr(getattr(settings, option.section, settings), option.name)
        name = f"{option.section}.{option.name}" if option.section else option.name
        mark = ' class="changed"' if value != option.default else ""
        cells = (html.escape(name), html.escape(str(value)), html.escape(option.help))
        rows.append(
            f"<tr{mark}><td>{cells[0]}</td><td>{cells[1]}</td><td><small>{cells[2]}</small></td></tr>"
        )
    return f"<table>{''.join(rows)}</table>"


def _table(rows: Sequence[tuple[str, str]]) -> str:
    cells = (f"<tr><td>{html.escape(a)}</td><td>{html.escape(b)}</td></tr>" for a, b in rows)
    return f"<table>{''.join(cells)}</table>"
