"""Checks of a run: what to consider when its figures are read."""
