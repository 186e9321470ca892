# SPDX-License-Identifier: Apache-2.0
"""Data inside of pages."""

from __future__ import annotations

import base64
import zlib


def packed(*parts: bytes) -> str:
    """Return bytes deflated, as text that unpacked() of templates/kit.js reads."""
    return _text(zlib.compress(b"".join(parts)))


def data_url(kind: str, content: bytes) -> str:
    """Return the address of an embedded file, such as a picture of the kind "image/png"."""
    return f"data:{kind};base64,{_text(content)}"


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
