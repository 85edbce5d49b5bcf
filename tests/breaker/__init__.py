"""A breaker that stays: hostile moments, drawn by seed, in the middle of runs and watches of a server.

`python -m tests.breaker` is the long form, `python -m tests.breaker ENGINE SEED` repeats one run.
"""
