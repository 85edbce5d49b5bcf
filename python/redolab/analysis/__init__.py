"""From a stored run to figures: pure functions, no database, the same figures every time."""
