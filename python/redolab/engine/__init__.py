"""Engines: what experiments run against, or what is watched. `open_engine` and `open_observer` open one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from redolab.engine.offer import PRIVATE_PLACE, Offer, Opening
from redolab.errors import UsageError
from redolab.likely import did_you_mean
from redolab.records.capability import Capability
from redolab.units import counted

if TYPE_CHECKING:
    from threading import Event

    from redolab.engine.base import Engine
    from redolab.engine.server.observer import Observer
    from redolab.records.load import Load

_ROOMS = (
    "postgres",
    "mariadb",
    "oracle",
    "sqlite",
    "machine",
    "generator",
)
"""The folders that have `OFFERS`."""
OFFERS: tuple[Offer, ...] = tuple(
    offer for room in _ROOMS for offer in import_module(f"{__name__}.{room}").OFFERS
)
"""Every engine there is; the first that has what an experiment needs is its default."""


def open_engine(
    target: str, load: Load, disk_bytes: int, log_device_s: tuple[float, ...], seed: int
) -> Engine:
    """Open the engine that `--engine` names: a private one, a URL's, or one without a database.

    Args:
        target: the value of `--engine`, as `check_target` allows it.
        load: what it will do.
        disk_bytes: how much disk that needs, where the server is Redolab's own.
        log_device_s: flush time of an emulated log device, seconds: one for all logs, or one for each; none
            for the real one.
        seed: seed of the wait sampler's gaps.

    Raises:
        UsageError: there is no such engine.
        RefusedError: the server cannot be had.
    """
    variant = _variant(target)
    return find_offer(target).open(Opening(target, load, disk_bytes, log_device_s, seed, variant))


def open_observer(
    target: str, seed: int, stop: Event | None = None, *, reopen: bool = True, calm: bool = False
) -> Observer:
    """Watch the server that a URL names.

    Args:
        target: the URL.
        seed: of the gaps between ticks.
        stop: once it is set, an answer of a PostgreSQL server is awaited for at most one second.
        reopen: whether `read` makes a connection anew that was lost, for half a minute. Otherwise it returns
            the observation until then, marked `broken`, and the observer can only be closed.
        calm: whether it looks more rarely than for a profile, so that its cost can hardly be measured; Oracle
            is not looked at between readings.

    Raises:
        UsageError: the URL names no server that can be watched.
        RefusedError: the server cannot be reached, or refuses.
    """
    scheme, is_url, _ = target.partition("://")
    for offer in OFFERS:
        if is_url and offer.observer is not None and scheme in offer.schemes:
            return offer.observer()(target, seed, stop, reopen, calm)
    raise UsageError(
        f"Redolab cannot watch {scheme[:20]!r}. Give the URL of a server, such as {watched_choices()}."
    )


def watched_choices() -> str:
    """The targets that `redolab profile` and `redolab watch` accept, in words."""
    return _listed([offer.example for offer in OFFERS if offer.observer is not None])


def offers_for(needs: Collection[Capability]) -> list[Offer]:
    """The engines that have all of `needs`; the default first."""
    return [offer for offer in OFFERS if offer.capabilities.issuperset(needs)]


def default_engine(needs: Collection[Capability]) -> str:
    """The engine that an experiment with these needs runs on where none is named."""
    return offers_for(needs)[0].name


def engine_choices() -> str:
    """The values that `--engine` accepts, in words, the URLs last."""
    return _listed([offer.choice for offer in sorted(OFFERS, key=lambda offer: bool(offer.schemes))])


def find_offer(target: str, also: Iterable[str] = ()) -> Offer:
    """The offer of the engine that `--engine` names; nothing is started or connected.

    Args:
        target: the value of `--engine`.
        also: other words that may have been meant.

    Raises:
        UsageError: there is no such engine.
    """
    offer = _offer(target)
    if offer is not None:
        return offer
    own = engine_names()
    example = next(each.example for each in OFFERS if each.schemes)
    scheme, is_url, _ = target.partition("://")
    schemes = [scheme for each in OFFERS for scheme in each.schemes]
    meant = did_you_mean(scheme, schemes) if is_url else did_you_mean(target, [*own, *also])
    raise UsageError(f"Unknown engine {target!r}.{meant} Use {_listed(own)}, or a URL such as {example}.")


def engine_names() -> list[str]:
    """The values that `--engine` accepts, without URLs."""
    return [choice for offer in OFFERS if not offer.schemes for choice in offer.choices]


def is_engine(text: str) -> bool:
    """Whether a word of the command line is an engine's name or a server's URL, perhaps after `NAME=`."""
    return "://" in text or _offer(text.rpartition("=")[2]) is not None


def _offer(target: str) -> Offer | None:
    scheme, is_url, _ = target.partition("://")
    for offer in OFFERS:
        if scheme in offer.schemes if is_url else target in offer.choices:
            return offer
    return None


def private_target(engine: Mapping[str, Any]) -> str | None:
    """The value of `--engine` for an engine like that of a run; None where it was somebody's server.

    Args:
        engine: the `engine` part of a manifest.
    """
    offer = next((each for each in OFFERS if each.name == engine["name"] and not each.schemes), None)
    if offer is None or engine.get("place", PRIVATE_PLACE) != PRIVATE_PLACE:
        return None
    variant = engine.get("variant", "")
    return f"{offer.name}:{variant}" if variant in offer.logs and variant else offer.name


def check_target(
    name: str, target: str, needs: Collection[Capability], log_device_s: tuple[float, ...] = ()
) -> None:
    """Make sure that there is such an engine and that it has what is needed; nothing is started or connected.

    Args:
        name: of the experiment.
        target: the value of `--engine`.
        needs: the capabilities that the experiment needs.
        log_device_s: flush time of an emulated log device: one for all logs, or one for each; none for
            the real one.

    Raises:
        UsageError: there is no such engine, the experiment cannot use it, an emulated device was asked of an
            engine that cannot emulate one, or there are more devices than it has logs.
    """
    offer = find_offer(target)
    reason = offer.why_not(needs)
    if reason is not None:
        allowed = _listed([each.name for each in offers_for(needs)])
        raise UsageError(
            f"{name} does not run on {offer.name}, only on {allowed}. Leave --engine out to use the default. "
            f"{reason}"
        )
    if log_device_s and "log_device" not in offer.capabilities:
        own = _listed([each.name for each in offers_for({"log_device"})])
        raise UsageError(
            f"--log-device-ms emulates a slow log device only for Redolab's own servers ({own}). Leave "
            "--log-device-ms out, or choose one of these engines."
        )
    logs = offer.logs[_variant(target)]
    if len(log_device_s) > max(1, len(logs)):
        raise UsageError(
            f"--log-device-ms names {len(log_device_s)} devices, but {target} has "
            f"{counted(len(logs), 'log')}: the {' and the '.join(logs)}. Name one device for all logs, or "
            "one device for each log."
        )


def _variant(target: str) -> str:
    """The variant after an engine's name and a colon."""
    return "" if "://" in target else target.partition(":")[2]


def _listed(names: list[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
