"""The machine under a run: its CPUs, memory and kernel, and earlier measurements of it."""

from redolab.machine.machine import effective_cpus

__all__ = ["effective_cpus"]
