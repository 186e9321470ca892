# SPDX-License-Identifier: Apache-2.0
"""Check the Content-Security-Policy of a page, and try to run code in spite of it."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

# Names that would run code in a page that does not escape them. The code marks the body.
RUN = "document.body.dataset.ran=1"
HOSTILE_NAME = f"</script><script>{RUN}</script><img src=x onerror={RUN}>\"'><svg onload={RUN}>"
BLOCKED = f"""<script>{RUN}</script><img src="x" onerror="{RUN}"><p onclick="{RUN}" id="attack" style="color: red">x</p>
<style>#attack {{ color: red }}</style><base href="https://invalid.example/"><iframe src="https://invalid.example/"></iframe>
<form action="https://invalid.example/"></form><link rel="stylesheet" href="https://invalid.example/">
"""


class _Attributes(HTMLParser):
    """Names of the attributes of all elements."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {name for name, _ in attrs}


def assert_policy(text: str) -> None:
    """Check that a page allows its own style and script, embedded pictures, and nothing else."""
    head, rest = text.split('<meta http-equiv="Content-Security-Policy" content="')
    assert not re.search(r"<(?:script|style|link|base)\b", head)
    policy = rest[: rest.index('"')].replace("&#39;", "'")
    found = dict(part.split(" ", 1) for part in policy.split("; "))
    wanted = dict.fromkeys(("default-src", "connect-src", "base-uri", "form-action"), "'none'")
    wanted |= {"img-src": "data:"}
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        if contents := re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL):
            (content,) = contents
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            wanted[name] = f"'sha256-{digest}'"
    assert found == wanted
    attributes = _Attributes()
    attributes.feed(text)
    blocked = {name for name in attributes.seen if name == "style" or name.startswith("on")}
    assert "charset" in attributes.seen and not blocked, "the policy blocks these attributes"


def attacked(text: str) -> str:
    """Return the page as if a name had escaped the escaping."""
    changed = text.replace("<body>", f"<body>{BLOCKED}", 1)
    assert changed != text
    return changed
