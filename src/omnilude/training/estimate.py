"""What this machine will do: measured in well under a minute, before a run is begun."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from omnilude.encoding import make_encoding
from omnilude.errors import SettingsError
from omnilude.games.symmetry import Symmetry
from omnilude.networks import PRESETS, build_network
from omnilude.networks.settings import AUTO, USUAL_PRESET
from omnilude.search.evaluator import choose_preset, make_evaluator, measure_rate
from omnilude.training.batches import BatchMaker, usable_symmetries
from omnilude.training.learner import Learner
from omnilude.training.memory import keep_memory
from omnilude.training.options import change_settings
from omnilude.training.playouts import find_playouts
from omnilude.training.replay import Replay
from omnilude.training.selfplay import Harvest, Orders
from omnilude.training.settings import TrainingSettings
from omnilude.training.targets import PolicyLayout, make_targets
from omnilude.training.threads import learning_threads
from omnilude.training.workers import choose_evaluator, count_cores, make_selfplay

if TYPE_CHECKING:
    from omnilude.games import Game

ENGINES = ("torch", "onnx")
POSITIONS = 100_000
"""How long so many positions take is what people ask."""
LONGEST = 60.0
"""Seconds that a first game is waited for."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to share out the cores in self-play, and how fast it was."""

    workers: int
    inference_threads: int
    backend: str
    positions: float  # a second
    evaluations: float  # a second
    simulations: float  # a second
    times: dict[str, float]  # shares of gather, evaluate, scatter, drain
    cache_hits: float

    @property
    def name(self) -> str:
        kind = (
            self.backend
            if self.workers > 1
            else {"threads": "thread", "processes": "process"}[self.backend]
        )
        return f"{self.workers} {kind} x {self.inference_threads}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Rates are a second."""

    game: str
    cores: int
    preset: str
    engine: str
    evaluations: dict[str, dict[str, float]]  # by preset and engine, one thread
    layouts: list[Layout]
    samples: dict[int, float]  # learned from, by number of threads
    replay_ratio: float
    overlap: bool

    @property
    def asked(self) -> Layout:
        """What a run with these settings has."""
        return self.layouts[0]

    @property
    def best(self) -> Layout:
        """Among those that a run can have: its workers have one inference thread each."""
        possible = [layout for layout in self.layouts if layout.inference_threads == 1]
        return max(possible, key=lambda layout: layout.positions)

    @property
    def recommended_preset(self) -> str:
        """What 'auto' stands for here."""
        return recommend_preset(self.evaluations)

    @property
    def positions(self) -> float:
        """Positions a second of a whole run."""
        play = 1 / self.asked.positions
        if not self.overlap:
            return 1 / (play + self.replay_ratio / max(self.samples.values()))
        threads = learning_threads(self.cores)
        learn = self.replay_ratio / self.samples[threads]
        # Cores that learn do not play; where all others have played enough, learning is the limit.
        return 1 / max(learn, play + learn * threads / self.cores)

    @property
    def waiting(self) -> float:
        """Share of the time of those cores that do not learn in which they wait for learning."""
        if not self.overlap or not self.replay_ratio:
            return 0.0
        threads = learning_threads(self.cores)
        learn = self.replay_ratio / self.samples[threads]
        free = (self.cores - threads) / self.cores  # of the cores
        return max(0.0, 1 - 1 / self.asked.positions / (learn * free)) if free else 0.0

    @property
    def seconds(self) -> float:
        """What POSITIONS positions take."""
        return POSITIONS / self.positions

    def to_dict(self) -> dict[str, Any]:
        measured = asdict(self)
        return measured | {"positions": self.positions, f"seconds_{POSITIONS}": self.seconds}


def estimate_training(
    game: Game,
    settings: TrainingSettings | None = None,
    *,
    seconds: float = 3.0,
    processes: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> Estimate:
    """Measures evaluation, self-play and learning, each for some seconds.

    The network is a new one: trained ones make games longer or shorter, and repeat positions more.
    """
    keep_memory()
    settings = settings or TrainingSettings()
    cores = count_cores()
    encoding, policy = make_encoding(game, settings.encoding), PolicyLayout.of(game)
    torch.manual_seed(settings.seed)
    evaluations: dict[str, dict[str, float]] = {}
    # The others take their sizes from the game alone.
    for preset in PRESETS if settings.network.family == "residual" else (USUAL_PRESET,):
        tell(f"evaluation, preset {preset}")
        network = build_network(encoding, policy.slots, replace(settings.network, preset=preset))
        evaluations[preset] = {}
        for engine in ENGINES:
            evaluator = make_evaluator(network, engine=engine)
            evaluations[preset][engine] = measure_rate(
                evaluator, network, settings.games_per_worker, seconds / 10
            )
    if settings.network.preset == AUTO:
        settings = change_settings(settings, {"preset": recommend_preset(evaluations)})
    network = build_network(encoding, policy.slots, settings.network)
    evaluator = choose_evaluator(game, encoding, network, settings)
    playouts = find_playouts(game, evaluator, network, settings)
    search, engine = replace(settings.search, playouts=playouts), evaluator.engine
    layouts: list[Layout] = []
    replay = Replay.of(game, settings)
    for workers, threads, backend in list_layouts(cores, settings, processes):
        tell(f"self-play, {workers} {backend}, {threads} inference threads each")
        asked = replace(settings, workers=workers, backend=backend)  # type: ignore[arg-type]
        selfplay = make_selfplay(
            game, encoding, network, asked, engine=engine, seed=1, inference_threads=threads
        )
        try:
            selfplay.refresh(network, Orders(search))
            selfplay.collect(settings.games_per_worker, seconds)  # games get out of step
            started = time.perf_counter()
            harvest = selfplay.collect(10**9, seconds)
            taken = time.perf_counter() - started
            while not harvest.counters.get("positions") and taken < LONGEST:
                harvest.add(selfplay.collect(10**9, seconds))  # a slow network needs longer
                taken = time.perf_counter() - started
            if not harvest.counters.get("positions"):
                raise SettingsError(
                    f"no move of {game.name} was found within {LONGEST:g} s: take fewer "
                    "simulations or a smaller network"
                )
            if not harvest.records and not len(replay):  # learning needs a game that ended
                harvest.records += selfplay.collect(1, LONGEST).records
        finally:
            selfplay.close()
        layouts.append(_describe(workers, threads, backend, harvest, taken))
        for records in harvest.records:
            replay.add(make_targets(records, policy, surprise=False))
    if not len(replay):
        raise SettingsError(f"no game of {game.name} ended within {LONGEST:g} s")
    samples = {}
    symmetries = usable_symmetries(game) if settings.augment else ()
    for threads in sorted({1, learning_threads(cores), cores}):
        tell(f"learning, {threads} threads")
        samples[threads] = measure_learning(game, settings, replay, symmetries, threads, seconds)
    return Estimate(
        game=game.name,
        cores=cores,
        preset=settings.network.preset,
        engine=engine,
        evaluations=evaluations,
        layouts=layouts,
        samples=samples,
        replay_ratio=settings.replay_ratio,
        overlap=settings.overlap,
    )


def list_layouts(
    cores: int, settings: TrainingSettings, processes: bool
) -> list[tuple[int, int, str]]:
    """Workers, inference threads of each, and back end; first those of the settings."""
    layouts = [(settings.workers or cores, 1, settings.backend), (cores, 1, "threads")]
    if cores > 1:
        layouts.append((1, cores, "threads"))
    if processes:
        layouts.append((cores, 1, "processes"))
    return list(dict.fromkeys(layouts))


def recommend_preset(evaluations: dict[str, dict[str, float]]) -> str:
    """The preset that suits these rates, by preset and engine."""
    if len(evaluations) == 1:
        return next(iter(evaluations))
    return choose_preset(lambda preset: max(evaluations[preset].values()))


def measure_learning(
    game: Game,
    settings: TrainingSettings,
    replay: Replay,
    symmetries: Sequence[Symmetry],
    threads: int,
    seconds: float,
) -> float:
    """Samples a second."""
    encoding, policy = make_encoding(game, settings.encoding), PolicyLayout.of(game)
    learner = Learner(build_network(encoding, policy.slots, settings.network), settings)
    batches = BatchMaker(
        game,
        encoding,
        replay,
        size=settings.batch_size,
        symmetries=symmetries,
        finals=settings.final_weight > 0,
    )
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        learner.learn(2, batches.make, rate=lambda _: 0.0, value_mix=0.5)
        started = time.perf_counter()
        steps, _ = learner.learn(
            10**9,
            batches.make,
            rate=lambda _: 0.0,
            value_mix=0.5,
            stop=lambda: time.perf_counter() - started > seconds,
        )
        return steps * settings.batch_size / (time.perf_counter() - started)
    finally:
        torch.set_num_threads(before)


def _describe(workers: int, threads: int, backend: str, harvest: Harvest, seconds: float) -> Layout:
    counts, total = harvest.counters, harvest.times.total or np.nan
    # Positions made, not only those of finished games: in a short time few games end.
    evaluations, cached = counts.get("evaluations", 0), counts.get("cached", 0)
    return Layout(
        workers=workers,
        inference_threads=threads,
        backend=backend,
        positions=counts.get("positions", 0) / seconds,
        evaluations=evaluations / seconds,
        simulations=counts.get("simulations", 0) / seconds,
        times={name: getattr(harvest.times, name) / total for name in harvest.times.__slots__},
        cache_hits=cached / max(1, cached + evaluations),
    )
