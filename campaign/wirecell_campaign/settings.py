"""What decides the content of the outputs: configuration, arguments, program. Outputs of different settings are never mixed."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from .checksum import sha256
from .errors import WrongUse
from .layout import Layout, read_json, write_json
from .program import HOME

IMPORT = re.compile(r"""\bimport(?:str|bin)?\s*(?:'([^']+)'|"([^"]+)")""")
PLACES = (".", "cfg", "share/wirecell", "share/wirecell/cfg")  # of configurations, in a checkout or a bundle
OWN_ARGUMENTS = ("input", "output")
SHARE = "share"  # the argument that names a folder where jobs meet, with a / in its name; it need not exist
NOT_A_RESULT = ("config", "search_path")  # paths: the same content elsewhere gives the same outputs


@dataclass(frozen=True)
class Settings:
    """Settings of a campaign; `files` are arguments that name files, with checksums."""

    config: str
    config_sha256: str
    arguments: dict[str, str]
    files: dict[str, str]
    program: dict[str, str]
    suffix: str
    search_path: list[str] = field(default_factory=list)

    def content(self) -> dict:
        """As it is kept in the output folder."""
        return dict(vars(self))

    def decisive(self) -> dict:
        """The part that decides the outputs. A file is known by its checksum, not by its place."""
        own = {key: value for key, value in self.content().items() if key not in NOT_A_RESULT}
        return own | {
            "arguments": {key: value for key, value in self.arguments.items() if key not in self.files}
        }

    def digest(self) -> str:
        """Equal for equal settings."""
        return hashlib.sha256(json.dumps(self.decisive(), sort_keys=True).encode()).hexdigest()


def parse_arguments(given: list[str]) -> dict[str, str]:
    """`name=value` words, the first `=` splits. A value that names a file, and the folder of `share`, become absolute paths, for
    attempts have working folders of their own. WrongUse for words without `=`, names given twice and those that the campaign
    sets."""
    found: dict[str, str] = {}
    for word in given:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise WrongUse("-A has no value", seen=word, expected="name=value")
        if name in OWN_ARGUMENTS:
            raise WrongUse(f"-A {name} is set for each file by the campaign", seen=word, hint="leave it out")
        if name in found:
            raise WrongUse("an argument is given twice", seen=f"{name}={found[name]} and {word}")
        is_path = "/" in value if name == SHARE else names_a_file(value)
        found[name] = str(Path(value).absolute()) if is_path else value
    return found


def names_a_file(value: str) -> bool:
    """Whether a value is the path of a file here; plain words such as `none` never are."""
    return ("/" in value or "." in value) and Path(value).is_file()


def find_config(given: str, bundle: str | None) -> Path:
    """The configuration as given, else of the bundle, else of the checkout or bundle of this package. WrongUse when there is none."""
    homes = [Path(bundle).absolute(), HOME] if bundle else [HOME]
    for path in (Path(given).absolute(), *(home / place / given for home in homes for place in PLACES)):
        if path.is_file():
            return path
    raise WrongUse(
        "the configuration was not found", given, expected="a file here, or in the cfg folder of the project"
    )


def config_digest(config: Path, search_path: list[str]) -> str:
    """Checksum over a configuration and all files that it imports, directly or not.

    An import is looked for beside its file, in the search path, and in the folder `cfg` above the file. What is not found is left
    to the program, which knows more places: its commit stands for those.
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
        places = [
            path.parent,
            *map(Path, search_path),
            *(folder for folder in path.parents if folder.name == "cfg"),
        ]
        for names in IMPORT.findall(path.read_text(encoding="utf-8", errors="replace")):
            name = names[0] or names[1]
            found = next((place / name for place in places if (place / name).is_file()), None)
            if found:
                waiting.append(found.resolve())
    return hashlib.sha256("\n".join(sorted(seen.values())).encode()).hexdigest()


def make(
    config: Path, arguments: dict[str, str], program: dict[str, str], suffix: str, search_path: list[str]
) -> Settings:
    """The settings of a run. OSError when a file cannot be read."""
    files = {name: sha256(Path(value)) for name, value in arguments.items() if names_a_file(value)}
    return Settings(
        str(config), config_digest(config, search_path), arguments, files, program, suffix, search_path
    )


def write(layout: Layout, settings: Settings) -> None:
    """Keep the settings in the output folder. OSError."""
    write_json(layout.settings, {"digest": settings.digest(), "settings": settings.content()})


def read(layout: Layout) -> dict | None:
    """What write() wrote last. None for a file that is absent or is something else; then the digests in the records still tell
    outputs of other settings."""
    found = read_json(layout.settings)
    whole = (
        isinstance(found, dict)
        and isinstance(found.get("digest"), str)
        and isinstance(found.get("settings"), dict)
    )
    return found if whole else None


def differences(old: dict, new: dict) -> list[str]:
    """'arguments: ... -> ...' for each part that is not the same."""
    return [
        f"{key}: {old.get(key)} -> {new.get(key)}"
        for key in sorted(old | new)
        if old.get(key) != new.get(key)
    ]


def changed(old: dict, new: Settings, where: Path) -> WrongUse:
    """The error when a folder holds outputs of other settings. `old` is the content() of a Settings."""
    before = Settings(**old).decisive() if set(old) == set(new.content()) else old
    return WrongUse(
        "the output folder holds files made with other settings",
        str(where),
        "; ".join(differences(before, new.decisive())) or "settings of another version of this program",
        "the same configuration, arguments and program for all files of a folder",
        "take another folder with --output, or make these files again with --redo",
    )
