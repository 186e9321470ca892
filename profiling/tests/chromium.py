# SPDX-License-Identifier: Apache-2.0
"""Open a page in headless Chromium and return its document, its errors and a picture."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(
    PROGRAM is None, reason="no chromium (./wcb test installs it where it can)"
)
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=1400,900",
    "--virtual-time-budget=10000",
    "--enable-logging=stderr",
    "--v=0",
)


def _open(page: Path, folder: Path, *options: str) -> subprocess.CompletedProcess:
    """Run Chromium with a new profile; the page has no network."""
    return subprocess.run(
        [PROGRAM, *OPTIONS, f"--user-data-dir={folder / 'chromium'}", *options, page.resolve().as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def dump(page: Path, folder: Path, *options: str) -> tuple[str, list[str]]:
    """Return (the document after its scripts ran, console messages)."""
    done = _open(page, folder, "--dump-dom", *options)
    return done.stdout, re.findall(r".*:CONSOLE.*", done.stderr)


def driven(text: str, script: str) -> str:
    """Return a page with a further script, which the page's Content-Security-Policy allows."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    changed = text.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    assert changed != text
    return changed.replace("</body>", f"<script>{script}</script></body>")


def marks(document: str) -> dict[str, str]:
    """Return the data attributes of the body."""
    return dict(re.findall(r'data-([\w-]+)="([^"]*)"', re.search(r"<body[^>]*>", document)[0]))


def screenshot(page: Path, folder: Path) -> np.ndarray:
    """Return the top of the page as (height, width, 3) bytes."""
    picture = folder / "page.png"
    _open(page, folder, f"--screenshot={picture}")
    with Image.open(picture) as image:
        return np.asarray(image.convert("RGB"))
