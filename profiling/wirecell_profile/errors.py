"""Errors that the user can correct, shown as one readable block."""

from __future__ import annotations


class ProfileError(Exception):
    """What is wrong, where, what was seen and expected, and how to correct it. Empty parts are left out."""

    def __init__(
        self, what: str, where: str = "", seen: str = "", expected: str = "", hint: str = ""
    ) -> None:
        parts = (("where", where), ("seen", seen), ("expected", expected), ("hint", hint))
        super().__init__(
            "\n".join([f"error: {what}", *(f"  {name + ':':<10}{text}" for name, text in parts if text)])
        )
        self.what = what


class MissingData(ProfileError):
    """The file lacks what a report needs. Never to be answered with a zero."""


class WrongUse(ProfileError):
    """An argument that cannot be understood or does not fit. Exit status 2."""
