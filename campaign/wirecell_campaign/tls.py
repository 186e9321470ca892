# SPDX-License-Identifier: Apache-2.0
"""TLS for the connections between scheduler, workers and client: the user's certificate, or one that is made for the run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import ssl
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from distributed import Security

from .errors import CampaignError, UsageError
from .layout import Layout
from .options import BATCH, ClusterOptions
from .program import TIMEOUT, ask

PREFIX = "tls-"  # of a run's folder; its process id follows, because --dry-run runs beside a campaign
PARTS = {"ca": "--tls-ca", "certificate": "--tls-cert", "key": "--tls-key"}

# One certificate is its own authority and belongs to all sides, which all run as one user. It is valid at any time of day,
# since clocks of machines differ, and ends with its key, which is removed after the run. `openssl req -x509` cannot set the
# first day before version 3.4. Paths are relative to the folder of the files, so none has to be quoted.
OPENSSL_CONFIGURATION = """[req]
distinguished_name = nothing
[nothing]
[ca]
default_ca = run
[run]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = names
x509_extensions = extensions
[names]
commonName = supplied
[extensions]
basicConstraints = critical, CA:true
"""
MAKE_KEY = """openssl req -config configuration -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes
 -keyout key.pem -out request -subj /CN=wirecell-campaign""".split()
MAKE_CERTIFICATE = """openssl ca -config configuration -batch -selfsign -create_serial -notext -keyfile key.pem -in request
 -out certificate.pem -startdate 20200101000000Z -enddate 20491231235959Z""".split()
LOOPBACK = re.compile(r"(\w+://)?(127(\.\d{1,3}){3}|localhost|\[::1\])(:|$)")


class JobSecurity(Security):
    """Settings for jobs of a batch system: dask-jobqueue writes the paths of a worker into a shell script unquoted."""

    def get_tls_config_for_role(self, role: str) -> dict[str, str | None]:
        found = super().get_tls_config_for_role(role)
        return {
            key: shlex.quote(value) if value and role == "worker" else value for key, value in found.items()
        }


def makes_certificate(options: ClusterOptions) -> bool:
    """Tell whether the run makes a certificate of its own."""
    return (
        options.is_own
        and not options.tls
        and options.tls_wanted is not False
        and shutil.which("openssl") is not None
    )


@contextmanager
def credentials(options: ClusterOptions, layout: Layout) -> Iterator[ClusterOptions]:
    """Yield options with the files of TLS. Make them, if they are wanted and the user has none; remove them at the end."""
    if not makes_certificate(options):
        yield options
        return
    layout.internal.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=layout.internal))  # mode 0700
    try:
        (folder / "configuration").write_text(OPENSSL_CONFIGURATION, encoding="ascii")
        (folder / "index").touch()
        for command in (MAKE_KEY, MAKE_CERTIFICATE):
            done = ask(command, TIMEOUT, folder)
            if done.returncode:
                raise CampaignError(
                    "cannot make a certificate for the run",
                    str(folder),
                    done.stderr.strip().splitlines()[-1]
                    if done.stderr.strip()
                    else f"status {done.returncode}",
                    hint="give your own by --tls-ca, --tls-cert and --tls-key, or do without by --no-tls",
                )
        (folder / "key.pem").chmod(0o600)
        certificate = str(folder / "certificate.pem")
        yield replace(
            options, tls={"ca": certificate, "certificate": certificate, "key": str(folder / "key.pem")}
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale(layout: Layout) -> None:
    """Remove the files of clients that were killed. The caller is the only client of the folder but for dry runs."""
    for folder in layout.internal.glob(f"{PREFIX}*"):
        process = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not (process.isdigit() and Path("/proc", process).exists()):
            shutil.rmtree(folder, ignore_errors=True)


def security(options: ClusterOptions) -> Security | None:
    """Return the settings of TLS for all connections, None without TLS."""
    return settings(options) if options.tls else None


def settings(options: ClusterOptions) -> Security:
    """Return the settings of TLS for the files of the options."""
    roles = {
        f"tls_{role}_{part}": options.tls[name]
        for role in ("client", "scheduler", "worker")
        for part, name in (("cert", "certificate"), ("key", "key"))
    }
    kind = JobSecurity if options.where in BATCH else Security
    return kind(tls_ca_file=options.tls["ca"], require_encryption=True, **roles)


def check(options: ClusterOptions) -> None:
    """Raise UsageError for settings that do not work. Warn if others can connect and the user did not choose it."""
    if options.tls:
        check_files(options)
        return
    if options.tls_wanted and not options.is_own:
        raise UsageError(
            "a running scheduler has its own certificates",
            seen=f"--tls --cluster {options.where}",
            expected="--tls-ca, --tls-cert and --tls-key",
        )
    if options.tls_wanted and not makes_certificate(options):
        raise UsageError(
            "cannot make a certificate for the run",
            seen="no openssl on this machine",
            hint="install it, or give your own by --tls-ca, --tls-cert and --tls-key",
        )
    is_private = options.where.startswith("tls://") or LOOPBACK.match(options.where)
    is_chosen = options.where == "local" and options.tls_wanted is False
    if not (makes_certificate(options) or is_private or is_chosen):
        print(
            "warning: connections are not encrypted: anyone who can reach scheduler or workers can run programs as you; "
            "see --tls in docs/campaigns.md",
            file=sys.stderr,
        )


def check_files(options: ClusterOptions) -> None:
    """Shake hands as scheduler and client with the files of the user. Raise UsageError."""
    if options.tls_wanted is False:
        raise UsageError("--no-tls contradicts the files for TLS", seen=", ".join(options.tls.values()))
    if set(options.tls) != set(PARTS):
        raise UsageError(
            "TLS needs three files",
            seen=", ".join(PARTS[name] for name in options.tls),
            expected=", ".join(PARTS.values()),
        )
    for name, path in options.tls.items():
        try:
            Path(path).read_bytes()
        except OSError as error:
            raise UsageError(
                f"cannot read a file for TLS ({PARTS[name]})", path, error.strerror or str(error)
            ) from None
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(options.tls["ca"])
        # Without a password here, OpenSSL would ask the terminal for the one of an encrypted key.
        context.load_cert_chain(options.tls["certificate"], options.tls["key"], password="")
        shake_hands(settings(options))
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(
            "the files for TLS do not work",
            ", ".join(options.tls.values()),
            getattr(error, "verify_message", "") or str(error),
            "a certificate that is valid now and signed by the authority of --tls-ca, and its key without password",
            "let the campaign make its own: leave the three options out",
        ) from None


def shake_hands(both: Security) -> None:
    """Let a scheduler and a client with these settings check each other. Raise ssl.SSLError."""
    to_scheduler, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    scheduler = both.get_listen_args("scheduler")["ssl_context"]
    client = both.get_connection_args("client")["ssl_context"]
    sides = [
        client.wrap_bio(to_client, to_scheduler),
        scheduler.wrap_bio(to_scheduler, to_client, server_side=True),
    ]
    for _ in range(4):  # messages in both directions
        for side in sides:
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
