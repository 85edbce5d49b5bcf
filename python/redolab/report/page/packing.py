"""The data of a page, as text that is safe inside its script elements."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any


def packed(content: bytes) -> str:
    """Content as gzip in base64, which `parts.js` unpacks."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def json_text(value: Any) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def script_json(value: Any) -> str:
    """JSON that is safe inside a script element whatever its strings hold."""
    text = json_text(value)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
