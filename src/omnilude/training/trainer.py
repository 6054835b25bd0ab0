"""The trainer: everything a run is made of, and the order in which it is used."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from omnilude.encoding import make_encoding
from omnilude.networks import build_network, save_checkpoint
from omnilude.networks.settings import AUTO
from omnilude.search.evaluator import CALIBRATION_ROWS, OnnxInt8Evaluator
from omnilude.training.batches import BatchMaker, usable_symmetries
from omnilude.training.learner import Learner
from omnilude.training.loop import Assess
from omnilude.training.memory import peak_memory
from omnilude.training.options import change_settings
from omnilude.training.playouts import SAMPLE, PlayoutWeight, find_playouts, least_share
from omnilude.training.progress import Display, Summary
from omnilude.training.records import describe_games
from omnilude.training.replay import Replay
from omnilude.training.reporter import Reporter
from omnilude.training.run import Run
from omnilude.training.selfplay import Harvest, Orders, SelfPlay, derive_seed
from omnilude.training.targets import PolicyLayout, Targets, join_targets, make_targets
from omnilude.training.threads import PROBED_SECONDS, PROBED_STEPS, ThreadChoice, learning_threads
from omnilude.training.workers import (
    choose_evaluator,
    count_cores,
    find_preset,
    make_selfplay,
)

if TYPE_CHECKING:
    from omnilude.games import Game

FIRST_BATCHES = 8
"""Learning begins with so many batches of positions in the buffer."""
LONGEST_SLICE = 10.0
"""Seconds of play or learning after which the trainer looks around."""
SAVED_GAMES = 200
"""Finished games of one commit that are written down at most, the first ones."""


class Trainer:
    def __init__(
        self,
        game: Game,
        run: Run,
        *,
        assess: Assess | None,
        display: Display,
        interrupted: threading.Event,
        started: float,
    ) -> None:
        self.game, self.run = game, run
        self.assess, self.display, self.interrupted = assess, display, interrupted
        self.encoding = make_encoding(game, run.settings.encoding)
        self.layout = PolicyLayout.of(game)
        if run.settings.network.preset == AUTO:
            found = find_preset(self.encoding, self.layout.slots, run.settings)
            run.settle(change_settings(run.settings, {"preset": found}))
        settings, state = run.settings, run.state
        self.settings = settings
        self.cores = count_cores()
        self._offset = started - state.elapsed  # perf_counter at which the run would have begun
        self._session_start = (state.elapsed, state.positions)
        torch.manual_seed(derive_seed(settings.seed) % (1 << 63))
        network = build_network(self.encoding, self.layout.slots, settings.network)
        self.learner = Learner(network, settings)
        self.replay = Replay.of(game, settings)
        symmetries = usable_symmetries(game) if settings.augment else ()
        self.batches = BatchMaker(
            game,
            self.encoding,
            self.replay,
            size=settings.batch_size,
            symmetries=symmetries,
            finals=settings.final_weight > 0,
            seed=derive_seed(settings.seed, 1),
        )
        self._uncommitted: list[Targets] = []
        self._finished: list[dict[str, Any]] = []
        self._committed_at = self._checkpointed_at = self._assessed_at = state.elapsed
        self._threads = ThreadChoice(
            learning_threads(self.cores) if settings.overlap else self.cores
        )
        self._ahead = Harvest()  # what was played while learning, and counts for the next iteration
        if run.resumed:
            self._restore()
        else:
            self.commit()
        self.evaluator = choose_evaluator(game, self.encoding, self.learner.player, settings)
        if state.playout_count < 0:  # part of how the run learns: what was found once stays
            player = self.learner.player
            state.playout_count = find_playouts(game, self.evaluator, player, settings)
        self._playouts = state.playout_count
        self._least_share = least_share(game) if self._playouts else 0.0
        self.reporter = Reporter(game.name, run, display, self.evaluator.engine)
        # The last thing that may fail: nobody would end processes that it started.
        self.selfplay: SelfPlay = make_selfplay(
            game,
            self.encoding,
            self.learner.player,
            settings,
            # Not what answers now: one in integers gives way, and comes back, from time to time.
            engine=self.evaluator.engine if settings.engine == "auto" else settings.engine,
            seed=derive_seed(settings.seed, 2, state.session),
            tell=display.tell,
        )

    def _restore(self) -> None:
        state = self.run.state
        self.learner.load_tensors(self.run.load_tensors(), state.steps)
        for chunk in self.run.load_chunks():
            self.replay.add(chunk)
        self.batches.random.bit_generator.state = state.random
        self._checkpointed_at = max((c["elapsed"] for c in state.checkpoints), default=0.0)

    # --- time and budget ---

    @property
    def elapsed(self) -> float:
        """Seconds of the run, over all sessions."""
        return time.perf_counter() - self._offset

    @property
    def progress(self) -> float:
        return self.settings.progress(self.elapsed, self.run.state.positions)

    @property
    def halted(self) -> bool:
        """No time is left. Where only positions are, what was played is still learned from."""
        minutes = self.settings.minutes
        return self.interrupted.is_set() or (minutes > 0 and self.elapsed >= 60 * minutes)

    # --- the loop ---

    def go(self) -> None:
        while not self.halted and (self.progress < 1 or self._owed_steps()):
            self._iterate()
        self._checkpoint()
        self.commit()
        # Also where a run was killed while it was assessed in the end.
        due = self.progress >= 1 and self.run.state.assessed != self.run.state.steps
        if due and self._assess():
            self.commit()

    def _iterate(self) -> None:
        """Some self-play, and the learning that is owed for it."""
        state, settings = self.run.state, self.settings
        started, positions = self.elapsed, state.positions
        self.selfplay.refresh(self.learner.player, self._orders())
        harvest, self._ahead = self._ahead, Harvest()
        quota = settings.iteration_positions
        while harvest.positions < quota and self.progress < 1 and not self.halted:
            harvest.add(self._play(quota - harvest.positions))
            self._commit_when_due()
        played = self.elapsed
        steps, losses = self._learn()
        learned = self.elapsed
        if self._due(self._checkpointed_at, settings.checkpoint_minutes):
            self._checkpoint()
        state.iteration += 1
        self.reporter.log(
            harvest,
            losses,
            elapsed=learned,
            new_steps=steps,
            positions_per_second=(state.positions - positions) / (learned - started),
            seconds=learned - started,
            play_seconds=harvest.times.total / self.selfplay.workers,
            wait_seconds=played - started,
            learn_seconds=learned - played,
            window=min(len(self.replay), self.replay.window),
            simulations=settings.simulations_at(self.progress),
            learning_rate=settings.rate_at(self.progress, state.steps),
            learning_threads=self._threads.best,
            playouts=self._playouts,
            playout_weight=self.playout_weight,
        )
        if self._due(self._assessed_at, settings.assess_minutes):
            self._assess()
        self._commit_when_due()

    def _play(self, positions: int) -> Harvest:
        settings, base = self.settings, self.run.state.positions

        def more(count: int) -> bool:
            self.reporter.show("self-play", self.elapsed, positions=base + count)
            spent = settings.progress(self.elapsed, base + count)
            return spent < 1 and not self.interrupted.is_set()

        harvest = self.selfplay.collect(positions, settings.commit_seconds or LONGEST_SLICE, more)
        self._take(harvest)
        return harvest

    def _take(self, harvest: Harvest) -> None:
        """Adds what was played to the replay buffer and the counts."""
        state, settings = self.run.state, self.settings
        before = self.replay.added
        for records in harvest.records:
            targets = make_targets(records, self.layout, surprise=settings.surprise)
            self.replay.add(targets)
            self._uncommitted.append(targets)
            self._finished += describe_games(records, SAVED_GAMES - len(self._finished))
            state.positions += records.positions
            state.games += records.games
            state.owed += targets.positions * settings.replay_ratio
        self._weigh_playouts(self.replay.added - before)

    def _learn(self) -> tuple[int, dict[str, float]]:
        """All the steps that are owed; returns how many, and the mean of each metric."""
        state, settings = self.run.state, self.settings
        owed = self._owed_steps()
        self.replay.set_window(settings.window_at(state.positions))
        done, sums = 0, dict[str, float]()
        while done < owed and not self.halted:
            threads, tried = self._threads.choose()
            torch.set_num_threads(threads)
            begun = self.elapsed
            seconds = PROBED_SECONDS if tried else settings.commit_seconds or LONGEST_SLICE
            overlapped = self._play_meanwhile(threads)
            steps, means = self.learner.learn(
                min(owed - done, PROBED_STEPS) if tried else owed - done,
                self.batches.make,
                rate=lambda step: settings.rate_at(self.progress, step),
                value_mix=settings.value_mix_at(self.progress),
                stop=partial(self._stop_learning, begun + seconds, overlapped),
            )
            state.owed -= steps * settings.batch_size
            state.steps = self.learner.step
            done += steps
            self._threads.note(threads, steps, self.elapsed - begun, phase=done >= owed)
            for name, mean in means.items():
                sums[name] = sums.get(name, 0.0) + mean * steps
            if overlapped:
                harvest = self.selfplay.end()
                self._take(harvest)
                self._ahead.add(harvest)
            self._commit_when_due()
        return done, {name: value / done for name, value in sums.items()} if done else {}

    def _owed_steps(self) -> int:
        """Steps that make up for the positions played; none while there are too few of them."""
        size = self.settings.batch_size
        ready = self.replay.full or len(self.replay) >= FIRST_BATCHES * size
        return int(self.run.state.owed // size) if ready else 0

    def _play_meanwhile(self, threads: int) -> bool:
        """Lets the workers whose cores do not learn play on, up to the next iteration's quota;
        returns whether there are any."""
        settings, state = self.settings, self.run.state
        workers = min(self.selfplay.workers, self.cores - threads)
        wanted = settings.iteration_positions - self._ahead.positions
        if settings.positions:
            wanted = min(wanted, settings.positions - state.positions)
        if not settings.overlap or workers < 1 or wanted < 1:
            return False
        self.selfplay.begin(wanted, workers)
        return True

    def _stop_learning(self, end: float, overlapped: bool) -> bool:
        played = self.selfplay.poll() if overlapped else 0
        self.reporter.show(
            "learning",
            self.elapsed,
            positions=self.run.state.positions + played,
            steps=self.learner.step,
        )
        return self.halted or self.elapsed > end

    def _orders(self) -> Orders:
        settings = self.settings
        search = replace(settings.search, simulations=settings.simulations_at(self.progress))
        search = replace(search, playouts=self._playouts, playout_weight=self.playout_weight)
        orders = Orders(search)
        if settings.archive_share and len(self.replay):
            drawn = self.replay.draw(settings.archive_size, self.batches.random)
            orders = replace(orders, starts=self.replay.states(drawn), share=settings.archive_share)
        if isinstance(self.evaluator, OnnxInt8Evaluator) and len(self.replay):
            drawn = self.replay.draw(CALIBRATION_ROWS, self.batches.random)
            self.evaluator.calibration = self.encoding.encode(self.replay.states(drawn))
            orders = replace(orders, calibration=self.evaluator.calibration)
        return orders

    # --- playouts ---

    @property
    def playout_weight(self) -> float:
        if not self.settings.auto_playouts:
            return self.settings.search.playout_weight
        if not self._playouts:
            return 0.0
        return max(self._least_share, PlayoutWeight(self.run.state.playouts).share)

    def _weigh_playouts(self, new: int) -> None:
        """Looks at the newest positions, which the network has not learned from yet."""
        settings, state, random = self.settings, self.run.state, self.batches.random
        if not settings.auto_playouts or not self._playouts or not new:
            return
        newest = min(new, len(self.replay))
        drawn = self.replay.gather(self.replay.added - 1 - random.permutation(newest)[:SAMPLE])
        # The reward of a game that was cut is only what the search thought of it.
        states, results = drawn.states[drawn.ended], drawn.rewards[drawn.ended]
        if not len(states):
            return
        values = self.learner.judge(self.encoding.encode(states))
        seed, longest = int(random.integers(1 << 62)), settings.search.max_length
        rewards = self.game.core.rollouts(states, self._playouts, seed, longest)
        weight = PlayoutWeight(state.playouts)
        weight.add(values, rewards[:, list(self.game.players)], results)
        state.playouts = weight.moments

    def _assess(self) -> bool:
        """Returns whether it was asked for. May take long: what was made until now is committed
        first, or a kill would cost it."""
        state, elapsed = self.run.state, self.elapsed
        if self.assess is None or self.settings.assess_minutes <= 0:
            return False
        self.commit()
        self.reporter.show("assessing", elapsed)
        self.evaluator.refresh(self.learner.player)
        scores = self.assess(self.learner.player, self.evaluator)
        state.scores = {name: float(score) for name, score in scores.items()}
        state.assessed = state.steps
        self.reporter.log_scores(state.scores, elapsed)
        self._assessed_at = self.elapsed
        return True

    # --- writing down ---

    def _due(self, last: float, minutes: float) -> bool:
        return minutes > 0 and self.elapsed - last >= 60 * minutes

    def _commit_when_due(self) -> None:
        if self.elapsed - self._committed_at >= self.settings.commit_seconds:
            self.commit()

    def commit(self) -> None:
        run, state = self.run, self.run.state
        if self._uncommitted:
            run.add_chunk(join_targets(self._uncommitted))
        run.add_games(self._finished)
        run.drop_chunks(len(self.replay))
        state.random = dict(self.batches.random.bit_generator.state)
        state.elapsed = self.elapsed
        run.commit(self.learner.tensors())
        self._uncommitted, self._finished = [], []
        self._committed_at = self.elapsed

    def _checkpoint(self) -> None:
        state = self.run.state
        name = f"checkpoints/step-{state.steps:08}"
        facts = {
            "step": state.steps,
            "positions": state.positions,
            "games": state.games,
            "elapsed": round(self.elapsed, 3),
            "playouts": self._playouts,
            "playout_weight": round(self.playout_weight, 4),
        }
        learned = {"search": self.settings.search.as_learned(), "augment": self.settings.augment}
        save_checkpoint(
            self.run.folder / name,
            self.learner.player,
            self.game,
            step=state.steps,
            extra={**facts, **learned},
        )
        self.run.add_checkpoint(name, **facts)
        self._checkpointed_at = self.elapsed

    def close(self) -> None:
        self.selfplay.close()
        self.reporter.close()

    def summary(self) -> Summary:
        state = self.run.state
        elapsed, positions = self._session_start
        kept = [one for one in state.checkpoints if one["file"]]
        return Summary(
            folder=self.run.folder,
            game=self.game.name,
            finished=self.progress >= 1,
            elapsed=state.elapsed,
            iterations=state.iteration,
            games=state.games,
            positions=state.positions,
            steps=state.steps,
            parameters=self.learner.network.parameter_count,
            engine=self.evaluator.engine,
            rate=(state.positions - positions) / max(1e-9, state.elapsed - elapsed),
            search_share=self.reporter.times.search_share,
            memory=peak_memory(),
            losses=dict(self.reporter.status.losses),
            scores=dict(state.scores),
            checkpoint=self.run.folder / kept[-1]["file"] if kept else None,
        )
