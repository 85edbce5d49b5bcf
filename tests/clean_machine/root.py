"""A root directory that is a machine: its commands have their own processes and see nothing of this one."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

USER = "jo"
# Where user namespaces are blocked, root's private server runs as nobody, who cannot look into /root.
HOMES = {"root": "/opt", USER: f"/home/{USER}"}
# What a slim image lacks too.
_SLIM = ("usr/share/locale", "usr/share/doc", "usr/share/man", "usr/share/info", "usr/lib/locale")
# The registry's address and certificates are this machine's settings, and must be the same inside.
_SETTINGS = ("PIP_", "UV_")
_CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
_ENTER = (
    'root=$0 user=$1; shift; mount -t proc proc "$root/proc" && mount -t tmpfs shm "$root/dev/shm" && '
    # The shell stays, as the first of these processes.
    'chroot --userspec="$user:$user" "$root" "$@"; exit $?'
)
_OWN_PROCESSES = ("unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "sh", "-c", _ENTER)


class NotHereError(Exception):
    """Why there can be no such machine here, as a sentence with what to do."""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    output: str
    """What it printed, to stdout and stderr."""
    wall_s: float
    cpu_s: float
    """Of the command and of everything that it waited for."""


@dataclass(frozen=True)
class Root:
    """A machine of its own, below a directory."""

    place: Path

    def run(self, user: str, *command: str, extra: Mapping[str, str] | None = None) -> Done:
        """Run a command as a user of this machine, in that user's home and with no other environment."""
        home = HOMES[user]
        environment = {
            "HOME": home,
            "USER": user,
            "PATH": f"{home}/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "DEBIAN_FRONTEND": "noninteractive",
            **settings(self.place),
            **(extra or {}),
        }
        began_s = time.monotonic()
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen(
                (*_OWN_PROCESSES, self.place, user, "env", "--chdir", home, *command),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            said = output.read().decode(errors="replace")
        cpu_s = usage.ru_utime + usage.ru_stime
        return Done(child.returncode, said, time.monotonic() - began_s, cpu_s)

    def files(self) -> set[str]:
        """Every path that a program may have left: not those of the kernel."""
        found = set()
        for folder, folders, names in os.walk(self.place):
            if Path(folder) == self.place:
                folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
            found |= {os.path.relpath(Path(folder) / name, self.place) for name in (*names, *folders)}
        return found


def settings(place: Path) -> dict[str, str]:
    """How this machine reaches its package registry; files that the settings name are put into the root."""
    found = {f"PIP_{key.upper().replace('-', '_')}": value for key, value in _pip_settings().items()}
    found |= {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_SETTINGS) or name in _CERTIFICATES or name.lower() in _PROXIES
    }
    if "PIP_CERT" in found:
        found.setdefault("SSL_CERT_FILE", found["PIP_CERT"])
    for name, value in list(found.items()):
        path = Path(value)
        if not path.is_absolute():
            continue
        if path.is_dir():
            del found[name]  # a folder of packages or a cache is this machine's alone
        elif path.is_file():
            inside = place / path.relative_to("/")
            inside.parent.mkdir(parents=True, exist_ok=True)
            if not inside.exists() or inside.read_bytes() != path.read_bytes():
                inside.unlink(missing_ok=True)
                shutil.copyfile(path, inside)
    return found


def _pip_settings() -> dict[str, str]:
    """What pip's own files set, its keys without their section."""
    said = subprocess.run(
        (sys.executable, "-m", "pip", "config", "list"), check=True, capture_output=True, text=True
    ).stdout
    lines = (line.partition("=") for line in said.splitlines() if line.startswith("global."))
    return {key.removeprefix("global."): str(ast.literal_eval(value)) for key, _, value in lines}


def suites() -> tuple[str, ...]:
    """Which Debian systems are made."""
    return ("bookworm", "trixie")


@contextmanager
def fresh(suite: str, *, slim: bool = False, packages: Sequence[str] = ()) -> Iterator[Root]:
    """A machine with Debian's smallest system, Python and an ordinary user, thrown away afterwards.

    Raises `NotHereError` where none can be made.
    """
    template = _template(suite)
    with tempfile.TemporaryDirectory(prefix="redolab-clean-", ignore_cleanup_errors=True) as made:
        place = Path(made) / "root"
        _checked("cp", "--archive", "--reflink=auto", str(template), str(place))
        Path(made).chmod(0o755)
        shutil.copyfile("/etc/resolv.conf", place / "etc" / "resolv.conf")
        root = Root(place)
        if slim:
            for name in _SLIM:
                shutil.rmtree(place / name, ignore_errors=True)
        for command in _prepared(packages):
            done = root.run("root", *command)
            if done.code:
                raise NotHereError(f"{' '.join(command)} failed in Debian's {suite}: {done.output[-500:]}")
        yield root


def _prepared(packages: Sequence[str]) -> Iterator[Sequence[str]]:
    yield "useradd", "--create-home", "--user-group", "--shell", "/bin/sh", USER
    if packages:
        yield "apt-get", "update", "-qq"
        yield "apt-get", "install", "-qq", "--yes", "--no-install-recommends", *packages


def _template(suite: str) -> Path:
    """The root as debootstrap leaves it, made once and kept."""
    if os.geteuid() != 0:
        raise NotHereError("a clean machine is made by root alone; run this as root")
    if shutil.which("debootstrap") is None:
        raise NotHereError("debootstrap is missing: apt-get install debootstrap")
    kept = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "redolab-clean-roots"
    place = kept / suite
    if place.exists():
        return place
    kept.mkdir(parents=True, exist_ok=True)
    print(f"Making a root of Debian's {suite}: some 70 MB are downloaded, once.", flush=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=kept, ignore_cleanup_errors=True) as made:
        new = Path(made) / suite
        include = "--include=python3,ca-certificates"
        _checked("debootstrap", "--variant=minbase", include, suite, str(new), _archive())
        new.rename(place)
    return place


def _archive() -> str:
    """The archive of Debian that apt is configured with here."""
    form = "$(ORIGIN) $(REPO_URI)"
    listed = _checked("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    for line in listed.splitlines():
        origin, _, address = line.partition(" ")
        if origin == "Debian" and not address.rstrip("/").endswith(("-security", "-debug")):
            return address
    raise NotHereError(
        "apt is not configured with an archive of Debian here, or has no lists: apt-get update"
    )


def _checked(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip()[-500:]
        raise NotHereError(f"{' '.join(command)} ended with {done.returncode}: {last}")
    return done.stdout
