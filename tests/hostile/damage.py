"""Damage to stored runs, by seed: to bytes, to the structure of JSON and Parquet, to the file system.

Half of the damage is done as a forger does it: the hashes in the manifest are made to fit again, so that
what was changed gets as far as the analysis.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hashes import file_hash

Damage = Callable[[Path, random.Random], str | None]
"""Does one thing to a run directory and says which; None where it could not be done there."""

_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 10**6, 10**18, 10**25, -(10**18), 1.5, -0.0, 1e-300, 1e300, "", "zzz", "1",
    "-1", "1e9", "x" * 70_000, "\ud800", "\u202e\x1b[31m", [], {}, [[]], [{}], {"a": 1}, ["zzz"], [1, 2, 3],
)  # fmt: skip


def damage(run: Path, seed: int) -> str:
    """Damage the run at `run`, as `seed` says; returns what was done, in words."""
    rng = random.Random(seed)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        while (text := rng.choices(*zip(*_DAMAGES, strict=True))[0](run, rng)) is None:
            pass
        done.append(text)
    if rng.random() < 0.5 and _forge(run):
        done.append("hashes made to fit")
    return "; ".join(done)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _files(run: Path) -> list[Path]:
    return sorted(
        path
        for folder in (run, run / "parts")
        if _is_folder(folder)
        for path in folder.iterdir()
        if _is_plain(path)
    )


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _pick(run: Path, rng: random.Random, ending: str = "") -> Path | None:
    found = [path for path in _files(run) if path.name.endswith(ending)]
    return rng.choice(found) if found else None


def _forge(run: Path) -> bool:
    """Make the hashes fit what stands there now."""
    path = run / "manifest.json"
    if not _is_plain(path):
        return False
    try:
        manifest = json.loads(path.read_text())
        for name in manifest["hashes"]:
            manifest["hashes"][name] = file_hash(run / name)
        path.write_text(json.dumps(manifest))
    except Exception:  # noqa: BLE001  damage may have been done to anything here
        return False
    return True


def flip(run: Path, rng: random.Random) -> str | None:
    path = _pick(run, rng)
    if path is None or not path.stat().st_size:
        return None
    content = bytearray(path.read_bytes())
    places = [rng.randrange(len(content)) for _ in range(rng.choice((1, 1, 2, 8, 64)))]
    for place in places:
        content[place] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    return f"{path.name}: {len(places)} bits flipped, the first in byte {places[0]}"


def flip_footer(run: Path, rng: random.Random) -> str | None:
    """Bits of a Parquet file's footer, where its sizes and places stand."""
    path = _pick(run, rng, ".parquet")
    if path is None or path.stat().st_size < 12:
        return None
    content = bytearray(path.read_bytes())
    length = min(int.from_bytes(content[-8:-4], "little") + 8, len(content))
    for _ in range(rng.choice((1, 2, 4))):
        content[len(content) - 1 - rng.randrange(length)] = rng.randrange(256)
    path.write_bytes(content)
    return f"{path.name}: bytes of its footer changed"


def truncate(run: Path, rng: random.Random) -> str | None:
    path = _pick(run, rng)
    if path is None:
        return None
    size = rng.choice((0, 1, 4, 8, rng.randrange(path.stat().st_size + 1), max(0, path.stat().st_size - 1)))
    path.write_bytes(path.read_bytes()[:size])
    return f"{path.name}: cut to {size} bytes"


def insert(run: Path, rng: random.Random) -> str | None:
    path = _pick(run, rng)
    if path is None:
        return None
    content, size = path.read_bytes(), rng.choice((1, 3, 100, 100_000))
    place = rng.randrange(len(content) + 1)
    path.write_bytes(content[:place] + rng.randbytes(size) + content[place:])
    return f"{path.name}: {size} bytes put in at {place}"


def foreign(run: Path, rng: random.Random) -> str | None:
    path, other = _pick(run, rng), _pick(run, rng)
    if path is None or other is None or path == other:
        return None
    shutil.copyfile(other, path)
    return f"{path.name}: is now {other.name}"


def _containers(value: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(value, dict | list) and value:
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _containers(item, depth + 1)


def _json(run: Path, rng: random.Random) -> tuple[Path, Any] | None:
    # What is told of the run matters most, and is read by everything.
    names = ["manifest.json", "manifest.json", "forecast.json", "league.json", "results.json"]
    path = run / rng.choice(names)
    if not _is_plain(path):
        return None
    try:
        return path, json.loads(path.read_text())
    except Exception:  # noqa: BLE001  damage may have been done to it
        return None


def change_json(run: Path, rng: random.Random) -> str | None:
    found = _json(run, rng)
    if found is None or not (containers := list(_containers(found[1]))):
        return None
    path, content = found
    # Every depth is as likely: else nearly all of it were entries of the order.
    inside = rng.choice(containers[: rng.choice((1, 10, 100, len(containers)))])
    key = rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
    kind = rng.choice(("delete", "odd", "odd", "odd", "double", "swap", "scale"))
    shown = repr(inside[key])[:60]
    if kind == "delete":
        del inside[key]
    elif kind == "odd":
        inside[key] = rng.choice(_ODD)
    elif kind == "double" and isinstance(inside, list):
        inside.append(inside[key])
    elif kind == "swap":
        other = rng.choice(containers)
        inside[key] = json.loads(json.dumps(other))
    elif kind == "scale" and isinstance(inside[key], int | float):
        inside[key] *= rng.choice((-1, 1e-3, 1e3, 1e6, 1000, 10**9))
    else:
        return None
    path.write_text(json.dumps(content))
    return f"{path.name}: {key!r}, which was {shown}, {kind}"


def raw_json(run: Path, rng: random.Random) -> str | None:
    """JSON that json.dumps would not write."""
    path = run / rng.choice(("manifest.json", "forecast.json", "league.json", "results.json", "report.html"))
    if not _is_plain(path):
        return None
    deep = rng.choice((50, 5000, 200_000))
    text = rng.choice(
        (
            b"[]", b"null", b"1", b'"zzz"', b"{}", b"[" * deep, b"[" * deep + b"]" * deep,
            b'{"a":' * deep + b"1" + b"}" * deep, b"NaN", b"\xff\xfe", b"", b"\xef\xbb\xbf{}",
            b'{"format": 1, "format": 1}', b'{"format": ' + b"9" * 5000 + b"}", b'{"format": 1e999}',
        )
    )  # fmt: skip
    if rng.random() < 0.5:
        content = path.read_bytes()
        known = [place for place, byte in enumerate(content[:5000]) if byte == ord(":")]
        if known:
            place = rng.choice(known) + 1
            text = content[:place] + text + b"," + content[place:]
    if path.name == "report.html" and rng.random() < 0.5:
        text = b'<script type="application/json" id="results">' + text + b"</script>"
    path.write_bytes(text)
    return f"{path.name}: {text[:40]!r}"


def change_table(run: Path, rng: random.Random) -> str | None:
    path = _pick(run, rng, rng.choice(("samples.parquet", ".parquet")))
    try:
        table = pq.read_table(path) if path is not None else None
        # The names of columns are read only now.
        if path is None or table is None or not table.column_names:
            return None
    except Exception:  # noqa: BLE001  damage may have been done to it
        return None
    text, changed = _changed(table, rng)
    if changed is None:
        return None
    pq.write_table(changed, path, compression=rng.choice(("snappy", "snappy", "snappy", "zstd", "none")))
    return f"{path.name}: {text}"


def _changed(table: pa.Table, rng: random.Random) -> tuple[str, pa.Table | None]:  # noqa: PLR0911
    name = rng.choice(table.column_names)
    place, column = table.column_names.index(name), table[name]
    kind = rng.choice(
        ("drop", "type", "null", "number", "number", "number", "text", "empty", "double", "many", "rename",
         "add", "order", "twice")
    )  # fmt: skip
    text = f"{kind} {name}"
    if kind == "drop":
        return text, table.drop_columns([name])
    if kind == "type":
        other = rng.choice((pa.string(), pa.int64(), pa.float64(), pa.int32(), pa.bool_(), pa.binary()))
        return text, table.set_column(place, name, pa.nulls(table.num_rows, other))
    if kind == "empty":
        return text, table.slice(0, 0)
    if kind == "double":
        return text, pa.concat_tables([table, table])
    if kind == "many" and table.num_rows:
        return text, pa.concat_tables([table] * rng.choice((10, 300)))
    if kind == "rename":
        return text, table.rename_columns([f"{one}x" if one == name else one for one in table.column_names])
    if kind == "add":
        return text, table.append_column("zzz", pa.nulls(table.num_rows, pa.int64()))
    if kind in ("order", "twice"):
        names = rng.sample(table.column_names, table.num_columns)
        return text, table.select(names) if kind == "order" else table.append_column(name, column)
    return _with_odd_values(table, name, kind, rng)


def _with_odd_values(
    table: pa.Table, name: str, kind: str, rng: random.Random
) -> tuple[str, pa.Table | None]:
    text, place, column = f"{kind} {name}", table.column_names.index(name), table[name]
    values = column.to_pylist()
    if not values:
        return text, None
    chosen = range(len(values)) if rng.random() < 0.3 else [rng.randrange(len(values))]
    odd = _odd_value(kind, column.type, rng)
    for row in chosen:
        values[row] = odd
    try:
        return f"{text} {str(odd)[:30]}", table.set_column(place, name, pa.array(values, column.type))
    except (pa.ArrowException, OverflowError, TypeError):
        return text, None


def _odd_value(kind: str, of: pa.DataType, rng: random.Random) -> Any:
    if kind == "null":
        return None
    if pa.types.is_floating(of):
        return rng.choice(
            (
                float("nan"),
                float("inf"),
                float("-inf"),
                -1.0,
                0.0,
                -0.0,
                5e-324,
                1e308,
                1e17,
                -1e17,
                1e-29,
                1e9,
            )
        )
    if pa.types.is_integer(of):
        return rng.choice((-1, 0, 1, 2**31, 2**53, 2**63 - 1, -(2**63), 10**17))
    if pa.types.is_boolean(of):
        return rng.choice((True, False))
    if pa.types.is_list(of):
        return rng.choice(([], [float("nan")], [0.0] * 900, [1e17] * 4, [1.0], [None]))
    return rng.choice(("", "zzz", "x" * 100_000, "baseline_b", "session", "1", "2026-11-21", "\x1b[31m"))


def file_system(run: Path, rng: random.Random) -> str | None:
    paths = sorted(run.iterdir())
    if not paths:
        return None
    path, kind = rng.choice(paths), rng.choice(("gone", "directory", "link", "loop", "pipe", "dead", "empty"))
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    if kind == "directory":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(rng.choice(("/etc/passwd", "/etc/shadow", "/proc/self/environ", "/dev/zero", "/tmp")))
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "dead":
        path.symlink_to("nowhere")
    elif kind == "empty":
        path.write_bytes(b"")
    return f"{path.name}: {kind}"


def change_hashes(run: Path, rng: random.Random) -> str | None:
    path = run / "manifest.json"
    if not _is_plain(path):
        return None
    try:
        manifest = json.loads(path.read_text())
        hashes = manifest["hashes"]
        name = rng.choice(
            ("/etc/passwd", "../../etc/hostname", "/dev/zero", ".", "", "parts", "a/b", "manifest.json", "\0")
        )
        hashes[name] = "0" * 64
        path.write_text(json.dumps(manifest))
    except Exception:  # noqa: BLE001  damage may have been done to it
        return None
    return f"manifest.json: hashes has {name!r}"


_DAMAGES: tuple[tuple[Damage, int], ...] = (
    (flip, 10), (flip_footer, 6), (truncate, 4), (insert, 4), (foreign, 4), (change_json, 30), (raw_json, 8),
    (change_table, 30), (file_system, 8), (change_hashes, 2),
)  # fmt: skip
