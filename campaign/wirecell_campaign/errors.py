# SPDX-License-Identifier: Apache-2.0
"""Errors that the user can correct, shown as one block in the form of wirecell-profile's errors."""

from __future__ import annotations

from wirecell_profile.errors import ProfileError


class CampaignError(ProfileError):
    """The campaign cannot continue, or not all of its work is done. Exit status 1."""


class UsageError(CampaignError):
    """An argument or a list is wrong. Exit status 2."""


def disk_error(what: str, error: OSError, hint: str = "") -> CampaignError:
    """Return the error of a file operation, with its path."""
    return CampaignError(what, where=str(error.filename or ""), seen=error.strerror or str(error), hint=hint)
