"""Observations of a server over time: a watch of it, or the reports that it wrote itself."""
