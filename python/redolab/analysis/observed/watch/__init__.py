"""Observations of a live server over minutes or days, and periods of it compared."""
