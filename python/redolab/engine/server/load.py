"""The interface of a load that a server can do, whichever database it is: its tables and its settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar, runtime_checkable

from redolab.engine.client_job import ClientJob

_Control = TypeVar("_Control")
"""The connection that statements are executed on."""


class ServerLoad(ABC, Generic[_Control]):
    """One kind of load on one server, inside Redolab's own schema or under Redolab's own names."""

    levels: Mapping[str, str] = {}
    """Levels applied last."""

    @abstractmethod
    def create(self, control: _Control) -> None:
        """Make the tables, and whatever else the sessions need."""

    def apply(self, control: _Control, levels: Mapping[str, str]) -> None:  # noqa: ARG002
        """Take the levels of the setting that concern the load, without the number of sessions."""
        self.levels = levels

    def settle(self, control: _Control) -> None:
        """Bring the tables to the same state before every sample."""

    def close(self) -> None:
        """Close whatever connections the load holds; the tables are dropped by the engine."""


@runtime_checkable
class ClientLoad(Protocol):
    """A load whose sessions commit over the wire, or can."""

    def client_job(self) -> ClientJob:
        """The job that each session of a client repeats, under the levels applied last."""
        ...
