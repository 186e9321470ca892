# SPDX-License-Identifier: Apache-2.0
"""Settings that determine the outputs: configuration, arguments, program. A folder has outputs of one setting only."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from .checksum import sha256
from .errors import UsageError
from .layout import Layout, read_json, write_json
from .program import HOME, PACKAGES

IMPORT = re.compile(r"""\bimport(?:str|bin)?\s*(?:'([^']+)'|"([^"]+)")""")
# Of configurations, in a checkout, an installed tree or an environment with the wheel.
FOLDERS = [HOME / folder for folder in (".", "cfg", "share/wirecell", "share/wirecell/cfg")]
FOLDERS += [PACKAGES / "spng/share/wirecell", PACKAGES / "spng/share/wirecell/cfg"]
OWN_ARGUMENTS = ("input", "output")
NOT_DECISIVE = ("config", "search_path")  # paths: equal content in other folders gives equal outputs


@dataclass(frozen=True)
class Settings:
    """Settings of a campaign. files: arguments that name files, with checksums."""

    config: str
    config_sha256: str
    arguments: dict[str, str]
    files: dict[str, str]
    program: dict[str, str]
    suffix: str
    search_path: list[str] = field(default_factory=list)

    def content(self) -> dict:
        """Return the content of the file in the output folder."""
        return dict(vars(self))

    def decisive(self) -> dict:
        """Return the part that determines the outputs: of files the checksums without the paths."""
        own = {key: value for key, value in self.content().items() if key not in NOT_DECISIVE}
        return own | {
            "arguments": {key: value for key, value in self.arguments.items() if key not in self.files}
        }

    def digest(self) -> str:
        """Return a checksum of the decisive settings."""
        return hashlib.sha256(json.dumps(self.decisive(), sort_keys=True).encode()).hexdigest()


def parse_arguments(given: list[str]) -> dict[str, str]:
    """Parse words `name=value`, split at the first `=`.

    Make the path of a file absolute, since attempts have working folders of their own.
    Raise UsageError for words without `=`, for names given twice, and for arguments that the campaign sets.
    """
    found: dict[str, str] = {}
    for word in given:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise UsageError("-A has no value", seen=word, expected="name=value")
        if name in OWN_ARGUMENTS:
            raise UsageError(f"the campaign sets -A {name} for each file", seen=word, hint="remove it")
        if name in found:
            raise UsageError("an argument is given twice", seen=f"{name}={found[name]} and {word}")
        found[name] = str(Path(value).absolute()) if names_a_file(value) else value
    return found


def names_a_file(value: str) -> bool:
    """Tell whether a value is the path of a file here; plain words such as `none` are not."""
    return ("/" in value or "." in value) and Path(value).is_file()


def find_config(given: str) -> Path:
    """Return the configuration: the given path, else that of the project. Raise UsageError if there is none."""
    for path in (Path(given).absolute(), *(folder / given for folder in FOLDERS)):
        if path.is_file():
            return path
    raise UsageError(
        "no such configuration", given, expected="a file here, or in the cfg folder of the project"
    )


def config_digest(config: Path, search_path: list[str]) -> str:
    """Return the checksum over a configuration and all files that it imports, directly or indirectly.

    Search an import beside its file, in the search path, and in the folder `cfg` above the file. Ignore imports that are not
    found: the program searches more folders, and its commit covers those files.
    """
    seen: dict[Path, str] = {}
    waiting = [config.resolve()]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen[path] = sha256(path)
        if path.suffix not in (".jsonnet", ".libsonnet"):
            continue
        folders = [
            path.parent,
            *map(Path, search_path),
            *(folder for folder in path.parents if folder.name == "cfg"),
        ]
        for names in IMPORT.findall(path.read_text(encoding="utf-8", errors="replace")):
            name = names[0] or names[1]
            found = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if found:
                waiting.append(found.resolve())
    return hashlib.sha256("\n".join(sorted(seen.values())).encode()).hexdigest()


def make(
    config: Path, arguments: dict[str, str], program: dict[str, str], suffix: str, search_path: list[str]
) -> Settings:
    """Return the settings of a run. Raise OSError if a file cannot be read."""
    files = {name: sha256(Path(value)) for name, value in arguments.items() if names_a_file(value)}
    return Settings(
        str(config), config_digest(config, search_path), arguments, files, program, suffix, search_path
    )


def write(layout: Layout, settings: Settings) -> None:
    """Write the settings into the output folder. Raise OSError."""
    write_json(layout.settings, {"digest": settings.digest(), "settings": settings.content()})


def read(layout: Layout) -> dict | None:
    """Return the content of the last write(), or None for an absent or foreign file; the digests in the records still
    distinguish outputs of other settings.
    """
    found = read_json(layout.settings)
    if (
        isinstance(found, dict)
        and isinstance(found.get("digest"), str)
        and isinstance(found.get("settings"), dict)
    ):
        return found
    return None


def differences(old: dict, new: dict) -> list[str]:
    """Return 'arguments: ... -> ...' and the like for each differing part."""
    return [
        f"{key}: {old.get(key)} -> {new.get(key)}"
        for key in sorted(old | new)
        if old.get(key) != new.get(key)
    ]


def changed(old: dict, new: Settings, where: Path) -> UsageError:
    """Return the error for a folder with outputs of other settings. old: content() of a Settings."""
    before = Settings(**old).decisive() if set(old) == set(new.content()) else old
    return UsageError(
        "the output folder has files made with other settings",
        str(where),
        "; ".join(differences(before, new.decisive())) or "settings of another version of this program",
        "the same configuration, arguments and program for all files of a folder",
        "choose another folder by --output, or make these files again by --redo",
    )
