"""What a load must say for a MariaDB or MySQL to do it: its tables, its settings, and its clients' job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from redolab.engine.client_job import ClientJob
from redolab.engine.mariadb.statements import Statements


class MariadbLoad(ABC):
    """One kind of load on one server, inside the database `redolab`."""

    @abstractmethod
    def create(self, control: Statements) -> None:
        """Make the tables in the database, which exists and is empty."""

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Take what the setting's levels say of the load; the number of sessions is not its part."""

    def settle(self, control: Statements) -> None:
        """Bring the tables to the same state before every sample."""

    def close(self) -> None:
        """Close whatever connections the load holds; the database is dropped by the engine."""


@runtime_checkable
class ClientLoad(Protocol):
    """A load whose sessions commit over the wire."""

    def client_job(self) -> ClientJob:
        """What each session does over and over, under the levels applied last."""
        ...
