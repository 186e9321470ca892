# SPDX-License-Identifier: Apache-2.0
"""Pages from Jinja2 templates: self-contained HTML, every value escaped."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from ..errors import ProfileError, pip_install
from ..units import counted, time_text
from . import svg
from .packing import data_url

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, folder: Path | None = None, **values: object) -> str:
    """Fill a template. Raise ProfileError if Jinja2 is not installed.

    `folder`: further templates, which can extend base.html.
    """
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise ProfileError(
            "HTML pages need the Python package jinja2",
            seen=str(error),
            hint=pip_install("jinja2"),
        ) from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([TEMPLATES, *([folder] if folder else [])]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["policy"] = _policy
    environment.filters |= {
        "svg": lambda drawing: Markup(svg.to_string(drawing)),
        "data_url": lambda text, kind: data_url(kind, text.encode()),
        "time": time_text,
        "counted": counted,
        "capital": lambda text: text[:1].upper() + text[1:],
    }
    return environment.get_template(template).render(values)


def _policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy of a page: nothing but its own style and script, and embedded pictures."""
    sources = {"style-src": style, "script-src": script}
    allowed = [f"{kind} '{_digest(text)}'" for kind, text in sources.items() if text]
    return "; ".join(
        [
            "default-src 'none'",
            *allowed,
            "img-src data:",
            "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
