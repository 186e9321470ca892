"""Campaigns: wire-cell over a list of files, on one machine or many, with every output made exactly once."""

__version__ = "1.0"
