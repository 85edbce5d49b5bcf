"""Takes out of a wheel what only says where and when it was built: of its bills of materials alone."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
import zipfile
from datetime import UTC, datetime
from pathlib import Path


def neutralise(wheel: Path, source: Path, moment: int) -> None:
    """Write a wheel anew, its bills of materials without the folder, the time and the number of this build.

    maturin names packages of the workspace by the folder `source`, and numbers every bill at random. The time
    becomes `moment`, in seconds since 1970; RECORD is kept true.
    """
    with zipfile.ZipFile(wheel) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    changed: dict[str, bytes] = {}
    for entry, content in entries:
        if ".dist-info/sboms/" in entry.filename:
            changed[entry.filename] = _bill(content, source, moment)
    fresh = wheel.with_suffix(".new")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries:
            name = entry.filename
            record = name.endswith(".dist-info/RECORD")
            archive.writestr(entry, _record(content, changed) if record else changed.get(name, content))
    fresh.replace(wheel)


def _bill(content: bytes, source: Path, moment: int) -> bytes:
    for address in (source.as_uri(), f"file://{source}"):
        content = content.replace(address.encode(), b"file:///redolab")
    document = json.loads(content)
    made = datetime.fromtimestamp(moment, UTC)
    document.setdefault("metadata", {})["timestamp"] = made.strftime("%Y-%m-%dT%H:%M:%SZ")
    document.pop("serialNumber", None)
    text = json.dumps(document, indent=1)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}"
    return (json.dumps(document, indent=1) + "\n").encode()


def _record(content: bytes, changed: dict[str, bytes]) -> bytes:
    lines = []
    for line in content.decode().splitlines():
        name = line.rsplit(",", 2)[0]
        if name in changed:
            digest = base64.urlsafe_b64encode(hashlib.sha256(changed[name]).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(changed[name])}")
        else:
            lines.append(line)
    return ("\n".join(lines) + "\n").encode()
