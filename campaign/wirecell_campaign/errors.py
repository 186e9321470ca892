"""Errors that the user can correct, shown as one readable block: the form is that of wirecell-profile."""

from __future__ import annotations

from wirecell_profile.errors import ProfileError


class CampaignError(ProfileError):
    """The campaign cannot go on, or could not do all of its work. Exit status 1."""


class WrongUse(CampaignError):
    """An argument or a list that cannot be understood or does not fit. Exit status 2."""


def indented(text: str) -> str:
    """A block inside of a block: lines after the first are moved under it."""
    return text.replace("\n", "\n" + " " * 12)


def disk_error(what: str, error: OSError, hint: str = "") -> CampaignError:
    """The error of a file operation, with the path it was about."""
    return CampaignError(what, where=str(error.filename or ""), seen=error.strerror or str(error), hint=hint)
