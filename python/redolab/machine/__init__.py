"""The machine under a run: its CPUs, memory and kernel, and what was once measured of it."""

from redolab.machine.machine import effective_cpus

__all__ = ["effective_cpus"]
