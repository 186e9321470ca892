# SPDX-License-Identifier: Apache-2.0
"""TLS: the certificate of the run, those of the user, and files that do not work."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import ssl
import stat
import subprocess
from pathlib import Path

import psutil
import pytest
from campaign_support import Bench, children
from wirecell_campaign import tls

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make certificates")

WARNING = "warning: connections are not encrypted"


def worker_of(bench: Bench) -> str:
    """Return the address of the worker of the first file."""
    return json.loads((bench.output / ".campaign/records/f000.npz.json").read_text())["worker"]


def run_folders(bench: Bench) -> list[Path]:
    """Return the folders with certificates of runs."""
    return list((bench.output / ".campaign").glob("tls-*"))


def make_files(folder: Path, end: str = "20491231235959Z") -> list[str]:
    """Make certificate and key in a folder; return the options that name them."""
    folder.mkdir()
    (folder / "configuration").write_text(tls.OPENSSL_CONFIGURATION)
    (folder / "index").touch()
    for command in (tls.MAKE_KEY, [*tls.MAKE_CERTIFICATE[:-1], end]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return options_of(folder, folder)


def options_of(certificate: Path, key: Path, authority: Path | None = None) -> list[str]:
    return [
        *("--tls-ca", str((authority or certificate) / "certificate.pem")),
        *("--tls-cert", str(certificate / "certificate.pem")),
        *("--tls-key", str(key / "key.pem")),
    ]


def accepts(port: int, context: ssl.SSLContext) -> bool:
    """Tell whether a server accepts a client with these settings of TLS."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            with context.wrap_socket(connection):
                return True
        except (ssl.SSLError, ConnectionError):
            return False


def answer_in_clear(port: int) -> bytes:
    """Return the begin of the answer to a request without TLS."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            return connection.recv(12)
        except ConnectionError:
            return b""


def test_only_the_run_itself_can_connect(bench: Bench) -> None:
    """With a certificate that ends with the run. Its key is private."""
    names = bench.make(30, "sleep 0.2")
    make_files(bench.folder / "other")
    process = bench.start("--workers", "1")
    try:
        bench.wait_for_outputs(1, process)
        (folder,) = run_folders(bench)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "key.pem").stat().st_mode) == 0o600
        own, stranger, nobody = (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) for _ in range(3))
        for context in (own, stranger, nobody):
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.maximum_version = ssl.TLSVersion.TLSv1_2  # the handshake ends when both sides agree
        own.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
        stranger.load_cert_chain(bench.folder / "other/certificate.pem", bench.folder / "other/key.pem")
        ports = {
            one.laddr.port
            for pid in (process.pid, *children(process.pid, "multiprocessing.spawn"))
            for one in psutil.Process(pid).net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        }
        answers = {port: answer_in_clear(port) for port in ports}
        web = {port for port, answer in answers.items() if answer.startswith(b"HTTP")}
        assert {answers[port] for port in web} <= {b"HTTP/1.1 404"}  # web servers without pages
        assert len(ports - web) >= 2  # scheduler and worker
        for port in ports - web:
            assert accepts(port, own) and not accepts(port, stranger) and not accepts(port, nobody)
    finally:
        _, said = process.communicate(timeout=240)
    assert process.returncode == 0 and WARNING not in said
    assert worker_of(bench).startswith("tls://127.0.0.1:") and not run_folders(bench)
    bench.check(names)


def test_files_of_a_killed_client_are_removed(bench: Bench) -> None:
    names = bench.make(1)
    (bench.output / ".campaign" / "tls-of-a-killed-client").mkdir(parents=True)
    assert bench.run() == 0
    bench.check(names)
    assert not run_folders(bench)


def test_files_of_a_running_dry_run_are_kept(bench: Bench) -> None:
    bench.make(1)
    running = bench.output / ".campaign" / f"tls-{os.getpid()}-abc"
    running.mkdir(parents=True)
    assert bench.run() == 0
    assert run_folders(bench) == [running]


def test_a_dry_run_does_not_touch_the_files_of_a_running_campaign(bench: Bench) -> None:
    bench.make(1)
    assert bench.run() == 0
    running = bench.output / ".campaign" / "tls-of-a-running-client"
    running.mkdir()
    assert bench.run("--cluster", "slurm", "--dry-run", "--interface", "lo") == 0
    assert run_folders(bench) == [running]


def test_without_encryption(bench: Bench, capsys) -> None:
    bench.make(1)
    assert bench.run("--no-tls") == 0
    assert worker_of(bench).startswith("tcp://127.0.0.1:") and WARNING not in capsys.readouterr().err


def test_a_machine_without_openssl(bench: Bench, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.make(1)
    monkeypatch.setattr(tls.shutil, "which", lambda name: None)
    assert bench.run("--tls") == 2 and "no openssl on this machine" in capsys.readouterr().err
    assert bench.run() == 0 and capsys.readouterr().err.count(WARNING) == 1
    assert worker_of(bench).startswith("tcp://127.0.0.1:")


@pytest.mark.parametrize(
    ("words", "is_warned"),
    [
        (["--cluster", "slurm", "--no-tls"], True),
        (["--cluster", "slurm"], False),
        (["--cluster", "tcp://192.0.2.1:8786"], True),
        (["--cluster", "tcp://127.0.0.1:8786"], False),
        (["--cluster", "tls://192.0.2.1:8786"], False),
    ],
)
def test_an_open_port_is_said(bench: Bench, capsys, words: list[str], is_warned: bool) -> None:
    bench.make(1)
    assert bench.run(*words, "--dry-run") == 0
    assert capsys.readouterr().err.count(WARNING) == is_warned


@pytest.mark.parametrize("batch", ["slurm", "htcondor"])
def test_the_paths_in_a_job_script_are_quoted(bench: Bench, capsys, batch: str) -> None:
    bench.make(1)
    bench.output = bench.folder / "it's a folder"
    assert bench.run("--cluster", batch, "--dry-run", "--interface", "lo") == 0
    shown = capsys.readouterr().out
    if batch == "slurm":
        words = shlex.split(shown.strip().splitlines()[-1])
        assert words[words.index("--tls-key") + 1].startswith(str(bench.output / ".campaign" / "tls-"))
    assert "--protocol tls://" in shown and "PRIVATE KEY" not in shown and not bench.output.exists()


def test_files_of_the_user(bench: Bench) -> None:
    names = bench.make(3)
    assert bench.run("--workers", "1", *make_files(bench.folder / "mine")) == 0
    bench.check(names)
    assert worker_of(bench).startswith("tls://127.0.0.1:") and (bench.folder / "mine" / "key.pem").exists()


def bad_files(folder: Path, kind: str) -> list[str]:
    """Return options for files that do not work."""
    good, other = folder / "good", folder / "other"
    words = make_files(good)
    if kind == "expired":
        return make_files(other, "20200102000000Z")
    make_files(other)
    if kind == "another key":
        return options_of(good, other)
    if kind == "another authority":
        return options_of(good, good, authority=other)
    if kind == "encrypted":
        encrypt = [
            *"openssl ec -aes128 -passout pass:secret -in key.pem -out".split(),
            str(other / "key.pem"),
        ]
        subprocess.run(encrypt, cwd=good, check=True, capture_output=True)
        return options_of(good, other)
    if kind == "no file":
        (good / "key.pem").unlink()
    if kind == "a folder":
        words[1] = str(folder)
    if kind == "no certificate":
        (good / "certificate.pem").write_text("hello\n")
    return words[:2] if kind == "one of three" else words


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("expired", "certificate has expired"),
        ("another key", "key values mismatch"),
        ("another authority", "signed certificate"),
        ("encrypted", "the files for tls do not work"),
        ("no file", "cannot read a file for tls (--tls-key)"),
        ("a folder", "cannot read a file for tls (--tls-ca)"),
        ("no certificate", "the files for tls do not work"),
        ("one of three", "tls needs three files"),
    ],
)
def test_files_that_do_not_work(bench: Bench, capfd, kind: str, said: str) -> None:
    """One error before anything starts, and no question for a password."""
    bench.make(1)
    assert bench.run(*bad_files(bench.folder, kind)) == 2
    shown = capfd.readouterr().err
    assert shown.startswith("error: ") and said in shown.replace("_", " ").lower()
    assert not bench.output.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--no-tls", "--tls-ca", "x"], "contradicts"),
        (["--tls", "--cluster", "tcp://127.0.0.1:1"], "a running scheduler has its own certificates"),
    ],
)
def test_contradictions(bench: Bench, capsys, words: list[str], said: str) -> None:
    bench.make(1)
    assert bench.run(*words) == 2 and said in capsys.readouterr().err
