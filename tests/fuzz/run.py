"""Runs the fuzzer: `python tests/fuzz/run.py --inputs 100000 --seed 0 --jobs 2 --language gdl`.

Inputs are tried in worker processes. One that raises anything but a typed error, takes too long,
grows too much or takes its process down is a finding; its text is kept below build/fuzz.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.mutate import SUFFIXES, mutate, seed_sheets

# Seconds of the processor's time, so that a busy machine is no finding.
SLOWEST = 5.0  # that one input may take
HANGING = 60.0  # after which a worker is given up
STUCK = 200.0  # by the clock, after which it is given up if it does nothing
CHUNK = 50  # inputs a worker takes at a time
FOLDER = Path(__file__).resolve().parents[2] / "build" / "fuzz"


@dataclass
class Report:
    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def work(pipe: Connection, sheets: Sequence[str], language: str) -> None:
    """Tries the inputs it is sent, announcing each before it begins."""
    faulthandler.enable()
    from fuzz.trial import try_input

    while (seeds := pipe.recv()) is not None:
        for seed in seeds:
            pipe.send(("begin", seed, ""))
            start = time.process_time()
            try:
                outcome = try_input(mutate(sheets, seed, language), seed, language)
            except BaseException as error:
                pipe.send(("finding", seed, f"{type(error).__name__}: {error}"))
                continue
            seconds = time.process_time() - start
            if seconds > SLOWEST:
                pipe.send(("finding", seed, f"took {seconds:.1f} s"))
            else:
                pipe.send(("end", seed, outcome))
        pipe.send(("idle", 0, ""))


def processor_seconds(pid: int) -> float:
    """What a process has used so far; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process, and what it is at."""

    def __init__(self, sheets: Sequence[str], language: str) -> None:
        self.sheets = sheets
        self.language = language
        self.todo: list[int] = []
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(
            target=work, args=(other, self.sheets, self.language), daemon=True
        )
        self.process.start()
        other.close()
        self.current: int | None = None

    def give(self, seeds: list[int]) -> None:
        self.todo = list(seeds)
        self.pipe.send(seeds)

    def begin(self, seed: int) -> None:
        self.current = seed
        self.since = time.monotonic()
        self.used = processor_seconds(self.process.pid or 0)

    def hangs(self) -> bool:
        if self.current is None or time.monotonic() - self.since < HANGING:
            return False
        used = processor_seconds(self.process.pid or 0) - self.used
        return used > HANGING or (used < 1 and time.monotonic() - self.since > STUCK)

    def restart(self) -> str:
        """Why it had to be; what it had not done yet is given to the new process."""
        self.process.join(1.0)  # one that crashed may still be on its way out
        hanging = self.process.is_alive()
        if hanging:
            self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.pipe.close()
        rest = [seed for seed in self.todo if seed != self.current]
        self.start()
        self.give(rest)
        return "hangs" if hanging else f"ended its process with code {code}"


def run(
    inputs: int,
    seed: int = 0,
    jobs: int = 1,
    *,
    language: str = "gdl",
    progress: bool = False,
    folder: Path = FOLDER,
) -> Report:
    """Tries `inputs` inputs, those numbered from `seed` times a million on."""
    sheets = seed_sheets(language)
    first = seed * 1_000_000
    queue = [list(range(i, min(i + CHUNK, first + inputs))) for i in
             range(first, first + inputs, CHUNK)]  # fmt: skip
    queue.reverse()
    report = Report()
    start = time.monotonic()

    def found(number: int, cause: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{number}{SUFFIXES[language]}"
        file.write_bytes(mutate(sheets, number, language))
        report.inputs += 1
        report.findings.append(f"input {number}: {cause} (kept as {file.name})")
        print(f"FINDING {report.findings[-1]}", flush=True)

    workers = [Worker(sheets, language) for _ in range(min(jobs, len(queue)))]
    for worker in workers:
        worker.give(queue.pop())
    busy = list(workers)
    while busy:
        ready = wait([worker.pipe for worker in busy], timeout=1.0)
        for worker in list(busy):
            if worker.pipe in ready:
                try:
                    event, number, text = worker.pipe.recv()
                except (EOFError, OSError):
                    number = worker.current if worker.current is not None else worker.todo[0]
                    worker.current = number
                    found(number, worker.restart())
                    continue
                if event == "begin":
                    worker.begin(number)
                    continue
                if event == "idle":
                    if queue:
                        worker.give(queue.pop())
                    else:
                        worker.pipe.send(None)
                        worker.process.join()
                        busy.remove(worker)
                    continue
                worker.todo.remove(number)
                worker.current = None
                if event == "finding":
                    found(number, text)
                    continue
                report.inputs += 1
                report.outcomes[text] += 1
                if progress and report.inputs % 1000 == 0:
                    rate = report.inputs / (time.monotonic() - start)
                    print(f"{report.inputs} inputs, {rate:.0f} a second, "
                          f"{len(report.findings)} findings", flush=True)  # fmt: skip
            elif worker.hangs():
                number = worker.current
                found(number, worker.restart())
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--language", choices=sorted(SUFFIXES), default="gdl")
    options = parser.parse_args()
    report = run(
        options.inputs, options.seed, options.jobs, language=options.language, progress=True
    )
    for outcome, count in report.outcomes.most_common():
        print(f"{count:8d} {outcome}")
    print(f"{report.inputs} inputs, {len(report.findings)} findings")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
