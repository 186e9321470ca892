# SPDX-License-Identifier: Apache-2.0
"""Plots of frames: what is drawn, with which labels, and the files of wirecell-frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from spng.pictures.plots import pooled
from wirecell_frame.cli import main
from wirecell_frame.commands import show as commands_show

from spng import Error, Frame, Traces, plot, write_frames

CHANNELS = np.arange(100, 112, dtype=np.int32)
PLANES = "U:8,V:4"
TICKS = 600


@pytest.fixture(name="frames", scope="module")
def fixture_frames() -> dict[str, Frame]:
    """ADC on a baseline of 900 with a pulse on channel 105, the signal and the truth of the pulse."""
    adc = np.full((12, TICKS), 900, np.int16)
    adc[5, 300:310] += 50
    signal = np.zeros((12, TICKS), np.float32)
    signal[5, 298:312] = 2000
    masks = {"bad": np.array([[102, 0, TICKS]])}
    return {
        "adc": Frame({"*": Traces("*", adc, CHANNELS)}, 3, masks),
        "signal": Frame({"signal": Traces("signal", signal, CHANNELS)}, 3),
        "truth": Frame({"*": Traces("*", signal * np.float32(1.5), CHANNELS)}, 3),
    }


def panels(figure: Figure) -> list[Axes]:
    """Return the axes with a title: all but colour bars."""
    return [axis for axis in figure.axes if axis.get_title() or axis.get_images() or axis.lines]


def legend_of(axis: Axes) -> list[str]:
    """Return the labels of a legend."""
    assert axis.get_legend() is not None
    return axis.get_legend_handles_labels()[1]


def test_images(frames: dict[str, Frame]) -> None:
    figure = plot(**frames, planes=PLANES)
    axes = panels(figure)
    assert [axis.get_title() for axis in axes] == ["ADC minus median", "signal", "truth"] * 2
    assert {axis.get_xlabel() for axis in axes} == {"channel"}
    assert [axis.get_ylabel() for axis in axes] == ["time [µs]", "", ""] * 2
    titles = [part.get_suptitle() for part in figure.subfigs]
    assert titles == ["U plane", "V plane"]
    units = [axis.get_ylabel() for axis in figure.axes if axis not in axes]
    assert units == ["ADC counts", "electrons per tick", "electrons per tick"] * 2
    assert figure._repr_png_().startswith(b"\x89PNG"), "a notebook would show no picture"
    adc, signal, truth = (axis.get_images()[0] for axis in axes[:3])
    assert np.asarray(adc.get_array()).shape == (TICKS, 8)
    assert np.asarray(adc.get_array())[305, 5] == 50 and np.asarray(truth.get_array()).max() == 3000
    assert adc.get_clim() == (-20, 20) and signal.get_clim() == truth.get_clim() == (0, 2000)
    assert adc.get_extent() == [99.5, 107.5, 0, 300]
    (bar,) = axes[0].patches
    assert (bar.get_x(), bar.get_width(), bar.get_y(), bar.get_height()) == (101.5, 1, 0, 300)
    assert legend_of(axes[0]) == ["mask bad"]


def test_waveforms(frames: dict[str, Frame]) -> None:
    upper, lower = panels(plot(**frames, planes=PLANES, waveforms=[105]))
    assert upper.get_title() == "U plane, channel 105"
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("ADC counts", "electrons per tick")
    assert lower.get_xlabel() == "time [µs]"
    drawn = {line.get_label(): line for axis in (upper, lower) for line in axis.lines}
    assert {"ADC minus median", "signal", "truth"} <= set(drawn)
    times, samples = drawn["ADC minus median"].get_data()
    assert samples.max() == 50 and times[samples.argmax()] == 150
    first, last = lower.get_xlim()
    assert first < 149 and last > 156 and last - first == pytest.approx(220)
    assert legend_of(lower) == ["truth", "signal"]
    (roi,) = upper.patches
    assert (roi.get_x(), roi.get_x() + roi.get_width()) == (149, 156)


def test_two_channels_of_each_plane(frames: dict[str, Frame]) -> None:
    axes = panels(plot(**frames, planes=PLANES, waveforms="auto", time_us=(10.0, 20.0)))
    titles = [axis.get_title() for axis in axes if axis.get_title()]
    assert titles[0] == "U plane, channel 105" and [title[0] for title in titles] == ["U", "V", "U", "V"]
    assert {axis.get_xlim() for axis in axes} == {(10.0, 20.0)}


def test_pooling_keeps_the_extremes() -> None:
    samples = np.zeros((10, 1000))
    samples[3, 777], samples[8, 2] = 5, -7
    assert pooled(samples, 10, 1000) is samples
    small = pooled(samples, 5, 100)
    assert small.shape == (5, 100) and small[1, 77] == 5 and small[4, 0] == -7
    assert np.count_nonzero(small) == 2


def test_files(frames: dict[str, Frame], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"{name}.npz" for name in frames}
    for name, frame in frames.items():
        write_frames(files[name], frame)
    given = [*map(str, files.values()), "--planes", PLANES]
    for name, options in {
        "planes.png": [],
        "v.pdf": ["--plane", "V"],
        "waves.png": ["--channel", "105,110"],
    }.items():
        assert main(["plot", *given, *options, "-o", str(tmp_path / name)]) == 0
    with Image.open(tmp_path / "planes.png") as picture:
        assert picture.size == (round(3 * 5.4 * 130), round(2 * 4.4 * 130))
    assert (tmp_path / "v.pdf").read_bytes().startswith(b"%PDF")
    assert main(["show", *given, "-o", str(tmp_path / "page.html")]) == 0
    assert "page.html: 0.1 MB, 1 event" in capsys.readouterr().out
    assert '"label":"truth","role":"truth"' in (tmp_path / "page.html").read_text(encoding="utf-8")
    named = [f"OTHER={files['signal']}:signal", "--planes", PLANES, "--channels", "104-106"]
    assert main(["show", *named, "-o", str(tmp_path / "page.html")]) == 0
    assert '"label":"OTHER","role":"charge"' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_large_pages(
    frames: dict[str, Frame],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_frames(tmp_path / "adc.npz", frames["adc"])
    given = ["show", str(tmp_path / "adc.npz"), "-o", str(tmp_path / "page.html")]
    assert main(given) == 0 and capsys.readouterr().err == ""
    monkeypatch.setattr(commands_show, "LARGE", 1000)
    assert main(given) == 0 and "--events N" in capsys.readouterr().err


def test_errors(frames: dict[str, Frame], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Error, match="no channel is left"):
        plot(**frames, planes=PLANES, waveforms=[99])
    with pytest.raises(Error, match="no plane 'X'"):
        plot(**frames, planes=PLANES, plane="X")
    file = tmp_path / "signal.npz"
    write_frames(file, frames["signal"])
    assert main(["plot", str(file), "-o", str(tmp_path / "a.bmp")]) == 2
    assert main(["show", str(file), "-o", str(tmp_path / "none" / "page.html")]) == 1
    assert main(["show"]) == 2
    shown = capsys.readouterr().err
    assert (
        "unknown format of a picture" in shown
        and "cannot write the output" in shown
        and "nothing to show" in shown
    )
