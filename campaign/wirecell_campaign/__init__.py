# SPDX-License-Identifier: Apache-2.0
"""Campaigns: run wire-cell over a list of files on one machine or many, and make every output exactly once."""

from pathlib import Path

__version__ = Path(__file__).with_name("VERSION").read_text(encoding="utf-8").strip()
