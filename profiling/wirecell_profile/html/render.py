# SPDX-License-Identifier: Apache-2.0
"""Pages from Jinja2 templates: self-contained HTML, every value escaped."""

from __future__ import annotations

import base64
from pathlib import Path

from ..errors import ProfileError, pip_install
from ..units import time_text
from . import svg

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
    environment.filters |= {
        "svg": lambda drawing: Markup(svg.to_string(drawing)),
        "base64": lambda text: base64.b64encode(text.encode()).decode(),
        "time": time_text,
        "capital": lambda text: text[:1].upper() + text[1:],
    }
    return environment.get_template(template).render(values)
