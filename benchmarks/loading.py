"""How long rulesheets take to load: `python benchmarks/loading.py FOLDER`, each in its own process.

Prints engine, seconds and memory of each, then how many became circuits, the median and the worst.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

_LOAD = """
import json, resource, sys, time
import omnilude
start = time.perf_counter()
try:
    outcome = omnilude.load(sys.argv[1]).engine
except omnilude.OmniludeError as error:
    outcome = type(error).__name__
seconds = time.perf_counter() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
print(json.dumps([outcome, seconds, memory]))
"""


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python benchmarks/loading.py FOLDER (of .kif files)")
    rows: list[tuple[str, float, int]] = []
    for path in sorted(Path(sys.argv[1]).glob("*.kif")):
        command = [sys.executable, "-c", _LOAD, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        outcome, seconds, memory = json.loads(done.stdout)
        rows.append((outcome, seconds, memory))
        print(f"{path.stem:40} {outcome:12} {seconds:7.2f} s {memory:6} MiB", flush=True)
    if not rows:
        sys.exit("no .kif files there")
    times = [seconds for _, seconds, _ in rows]
    print(
        f"{len(rows)} rulesheets, {sum(outcome == 'circuit' for outcome, _, _ in rows)} circuits; "
        f"median {statistics.median(times):.2f} s, at most {max(times):.2f} s "
        f"and {max(memory for _, _, memory in rows)} MiB"
    )


if __name__ == "__main__":
    main()
