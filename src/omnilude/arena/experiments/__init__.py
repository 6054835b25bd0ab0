"""The experiments that RESULTS.md reports: `python -m omnilude.arena.experiments.p3 --help`.

Each writes a file in results/, part by part; what is there already is not done again. So they may
be stopped at any time, run in the background, and go on with the same command.
"""
