"""Engines: what experiments run against. `open_engine` is the only door."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from redolab.engine import generator, machine, mariadb, postgres, sqlite
from redolab.engine.offer import Offer, Opening
from redolab.errors import UsageError
from redolab.records.capability import Capability

if TYPE_CHECKING:
    from redolab.engine.base import Engine
    from redolab.records.load import Load

OFFERS: tuple[Offer, ...] = tuple(
    offer for room in (postgres, mariadb, sqlite, machine, generator) for offer in room.OFFERS
)
"""Every engine there is; the first that has what an experiment needs is its default."""


def open_engine(target: str, load: Load, disk_bytes: int, log_device_s: float | None, seed: int) -> Engine:
    """Open the engine that `--engine` names: a private one, a URL's, or one without a database.

    Args:
        target: what `--engine` says, as `check_target` allows it.
        load: what it will do.
        disk_bytes: how much disk that needs, where the server is Redolab's own.
        log_device_s: flush time of an emulated log device, seconds; None for the real one.
        seed: of the wait sampler's gaps.

    Raises:
        UsageError: there is no such engine.
        RefusedError: the server cannot be had.
    """
    return find_offer(target).open(Opening(target, load, disk_bytes, log_device_s, seed))


def offers_for(needs: Collection[Capability]) -> list[Offer]:
    """The engines that have all of `needs`; the default first."""
    return [offer for offer in OFFERS if offer.capabilities.issuperset(needs)]


def default_engine(needs: Collection[Capability]) -> str:
    """The engine that an experiment with these needs runs on where none is named."""
    return offers_for(needs)[0].name


def find_offer(target: str) -> Offer:
    """What the engine that `--engine` names offers; nothing is started or connected.

    Raises:
        UsageError: there is no such engine.
    """
    scheme, is_url, _ = target.partition("://")
    for offer in OFFERS:
        if scheme in offer.schemes if is_url else target == offer.name and not offer.schemes:
            return offer
    raise UsageError(
        f"There is no engine {target!r}. Use embedded, mariadb or sqlite, or a URL such as "
        "postgresql://user@host:5432/database."
    )


def check_target(target: str, needs: Collection[Capability], log_device_s: float | None) -> None:
    """Make sure that there is such an engine and that it has what is needed; nothing is started or connected.

    Args:
        target: what `--engine` says.
        needs: the capabilities that the experiment needs.
        log_device_s: flush time of an emulated log device; None for the real one.

    Raises:
        UsageError: there is none, the experiment cannot use it, or an emulated device was asked of an
            engine that has none.
    """
    offer = find_offer(target)
    if not offer.capabilities.issuperset(needs):
        allowed = " or ".join(each.name for each in offers_for(needs))
        missing = next(capability for capability in sorted(needs) if capability not in offer.capabilities)
        raise UsageError(
            f"This experiment does not run on {target.partition('://')[0]}, only on {allowed}: "
            f"leave --engine out for its default. {offer.why_not(missing)}"
        )
    if log_device_s is not None and "log_device" not in offer.capabilities:
        raise UsageError(
            "--log-device-ms emulates a slow device under Redolab's own server only, the embedded "
            "PostgreSQL; any other has the device it has. Leave one of the two out."
        )
