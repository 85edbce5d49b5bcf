"""Where `scripts/need-servers` takes Debian's packages from: the sites that apt is configured with."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

SCRIPT = ROOT / "scripts" / "need-servers"
# Tells what apt is configured with, notes from where packages are asked for, and fetches nothing.
APT_GET = """#!/bin/sh
case "$*" in
    *indextargets* | *--print-uris*) exec {apt_get} "$@" ;;
esac
for word; do
    case $word in
        Dir::Etc::sourcelist=*) sources=${{word#*=}} ;;
        update) cat "$sources" >>{asked}; echo "E: {error}"; exit 100 ;;
    esac
done
exit 99
"""
RELEASE = "Origin: {origin}\nDate: Sat, 07 Nov 2026 10:00:00 UTC\nSHA256:\n {sum} 0 {packages}\n"
NEEDED = len(re.findall(r"^need ", SCRIPT.read_text(), re.MULTILINE))
ERROR = "Nothing is fetched in a test."


@dataclass(frozen=True)
class Asked:
    """What one start of the script asked apt for."""

    sites: dict[str, list[str]]
    """The sites that were asked for a suite, in their order."""
    missing: dict[str, str]
    """Why a server is not to be had, by its name."""


class Apt:
    """An apt of a made-up configuration."""

    def __init__(self, place: Path) -> None:
        self._place = place
        for folder in ("bin", "sources.list.d", "lists/partial", "cache"):
            (place / folder).mkdir(parents=True)
        (place / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "{place}/sources.list";\n'
            f'Dir::Etc::sourceparts "{place}/sources.list.d";\n'
            f'Dir::State::lists "{place}/lists";\n'
            f'Dir::Cache "{place}/cache";\n'
        )

    def has_lines(self, *lines: str) -> None:
        (self._place / "sources.list").write_text("".join(f"{line}\n" for line in lines))

    def has_paragraphs(self, text: str) -> None:
        (self._place / "sources.list.d" / "made-up.sources").write_text(text)

    def knows(self, site: str, suite: str, origin: str) -> None:
        """What the site says of itself was fetched before."""
        here = ["dpkg", "--print-architecture"]
        architecture = subprocess.run(here, capture_output=True, text=True, check=True).stdout.strip()
        packages = f"main/binary-{architecture}/Packages"
        said = RELEASE.format(origin=origin, packages=packages, sum=hashlib.sha256(b"").hexdigest())
        for name, text in (("Release", said), (packages, "")):
            path = f"{site.partition('://')[2]}/dists/{suite}/{name}".replace("/", "_")
            (self._place / "lists" / path).write_text(text)

    def ask(self) -> Asked:
        apt_get, noted = shutil.which("apt-get"), self._place / "asked"
        assert apt_get is not None, "the tests need Debian's apt"
        stub = self._place / "bin" / "apt-get"
        stub.write_text(APT_GET.format(apt_get=apt_get, asked=noted, error=ERROR))
        stub.chmod(0o755)
        done = subprocess.run(
            ["sh", SCRIPT], capture_output=True, text=True, check=False,
            env={
                **os.environ, "APT_CONFIG": str(self._place / "apt.conf"),
                "XDG_CACHE_HOME": str(self._place), "PATH": f"{self._place / 'bin'}:{os.environ['PATH']}",
            },
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        sites: dict[str, list[str]] = {}
        for line in noted.read_text().splitlines() if noted.exists() else []:
            site, suite, component = line.partition("] ")[2].split()
            assert component == "main"
            sites.setdefault(suite, []).append(site)
        kept = self._place / "redolab-test-servers"
        return Asked(sites, {path.stem: path.read_text() for path in kept.glob("*.missing")})


@pytest.fixture
def apt(tmp_path: Path) -> Apt:
    return Apt(tmp_path)


def once(sites: list[str]) -> list[str]:
    return list(dict.fromkeys(sites))


def test_a_mirror_is_asked_for_the_suites_that_apt_is_not_configured_with(apt: Apt) -> None:
    apt.has_lines(
        "deb https://mirror.example/debian bookworm main",
        "deb https://mirror.example/debian-security bookworm-security main",
    )
    asked = apt.ask()
    assert asked.sites.keys() == {"trixie", "trixie-security", "sid", "experimental"}
    assert once(asked.sites["trixie-security"]) == ["https://mirror.example/debian-security"]
    for suite in ("trixie", "sid", "experimental"):
        assert once(asked.sites[suite]) == ["https://mirror.example/debian"]
    assert len(asked.missing) == NEEDED
    assert all(ERROR.rstrip(".") in why for why in asked.missing.values())


def test_paragraphs_and_their_several_sites_are_read_too(apt: Apt) -> None:
    apt.has_paragraphs(
        "Types: deb deb-src\nURIs: http://one.example/debian http://two.example:8080/debian/\n"
        "Suites: trixie trixie-updates\nComponents: main contrib\n\n"
        "Types: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: trixie\nComponents: main\n\n"
        "Types: deb\nURIs: https://safe.example/security\nSuites: trixie-security\nComponents: main\n"
    )
    asked = apt.ask()
    # One is asked where the other has not what is wanted.
    assert set(asked.sites["sid"]) == {"http://one.example/debian", "http://two.example:8080/debian"}
    assert once(asked.sites["trixie-security"]) == ["https://safe.example/security"]


def test_security_updates_that_apt_has_no_source_of_are_not_asked_for(apt: Apt) -> None:
    apt.has_lines("deb [arch=amd64] http://mirror.example/debian stable main non-free-firmware")
    assert apt.ask().sites.keys() == {"trixie", "sid", "experimental"}


def test_what_is_not_debians_is_not_asked(apt: Apt) -> None:
    apt.has_lines(
        "deb https://packages.example/php bookworm main",
        "deb https://nodes.example/node nodistro main",
        "deb https://tool.example/debian bookworm stable",
        "deb http://mirror.example/debian bookworm main",
        "deb-src http://sources.example/debian bookworm main",
        "deb cdrom:[Debian_GNU/Linux_12]/ bookworm main",
    )
    apt.knows("https://packages.example/php", "bookworm", "deb.php")
    assert once(apt.ask().sites["trixie"]) == ["http://mirror.example/debian"]


def test_who_says_that_it_is_debian_comes_first_whatever_its_suites_are_called(apt: Apt) -> None:
    apt.has_lines(
        "deb http://unknown.example/debian bookworm main",
        "deb http://company.example/snapshot rolling main",
    )
    apt.knows("http://company.example/snapshot", "rolling", "Debian")
    assert once(apt.ask().sites["sid"]) == [
        "http://company.example/snapshot", "http://unknown.example/debian",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [(), ("deb-src http://mirror.example/debian bookworm main",), ("deb http://u.example/ noble main",)],
)
def test_without_a_source_of_debian_it_is_said(apt: Apt, lines: tuple[str, ...]) -> None:
    apt.has_lines(*lines)
    asked = apt.ask()
    assert asked.sites == {}
    assert len(asked.missing) == NEEDED
    for why in asked.missing.values():
        assert "apt has no source of Debian's packages" in why


def test_no_site_is_named_in_the_script() -> None:
    assert "://" not in SCRIPT.read_text()
