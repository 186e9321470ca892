# SPDX-License-Identifier: Apache-2.0
"""The chain as an object: waveforms in, charge with regions of interest (ROIs) out."""

from __future__ import annotations

import atexit
import json
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from .conversion import argument_text, json_text, ranges_of
from .errors import input_error
from .frame import Frame, SparseSamples, Traces
from .packages import required
from .process import native

if TYPE_CHECKING:
    import torch

    from . import _core

    Waveforms = np.ndarray | torch.Tensor | Frame | Traces

SAMPLE_TYPES = ("int16", "uint16", "int32", "int64", "float32", "float64")
NO_LIMIT = 1e9  # seconds

_open: weakref.WeakSet[Pipeline] = weakref.WeakSet()


class Pipeline:
    """A warm pipeline: files, tables, network and device are kept until close(), or the end of a `with` block.

    Call it with waveforms (channel, tick) [ADC]; it returns a Frame with the traces of each tag. NumPy arrays and torch
    tensors are read without copies. Torch tensors give torch tensors on the same device; with results_on_device nothing
    passes the host. Calls may come from several threads. The GIL is released while the chain works.
    """

    def __init__(
        self,
        detector: str = "pdhd",
        anode: int | Sequence[int] = 0,
        model: str = "default",
        device: str = "auto",
        *,
        tags: str | Sequence[str] = "signal",
        sparse: bool = False,
        results_on_device: bool = False,
        queue_size: int = 4,
        configuration: str = "",
        set: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> None:
        """Prepare the chain, which takes about a second.

        detector, anode, model, device, tags  arguments detname, tpcid, model, device and tags of cfg/pipeline.jsonnet
        sparse             results are SparseSamples: the ROIs only
        results_on_device  results of a CUDA device are torch tensors of that device
        queue_size         frames that may wait; submit() blocks while the queue is full
        configuration      another configuration, with SPNGMemorySource and SPNGMemorySink; it gets `arguments`, and
                           the others that differ from their defaults
        set                keys of components, as wire-cell --set: {"SPNGThresholdROIs:collection.threshold_rms_factor": 4}
        arguments          further arguments of the configuration: noise_filter="sticky,lines", threads=1

        Raise spng.Error if a file, the network, the device or an argument is wrong.
        """
        core = native()
        options = core.PipelineOptions()
        options.detector = detector
        options.anodes = [int(each) for each in ([anode] if isinstance(anode, int) else anode)]
        options.model = model
        options.device = device
        options.tags = tags.split(",") if isinstance(tags, str) else list(tags)
        options.sparse = sparse
        options.results_on_device = results_on_device
        options.queue_size = queue_size
        options.configuration = configuration
        options.changes = [f"{key}={json_text(value)}" for key, value in (set or {}).items()]
        options.arguments = {name: argument_text(value) for name, value in arguments.items()}
        self._core = core.Pipeline(options)
        _open.add(self)

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __call__(
        self,
        waveforms: Waveforms,
        channels: Sequence[int] | np.ndarray | None = None,
        masks: Mapping[str, np.ndarray | Sequence[Sequence[int]]] | None = None,
        *,
        ident: int | None = None,
        start_ns: float | None = None,
        tick_ns: float | None = None,
        first_tick: int | None = None,
    ) -> Frame:
        """Process one event.

        waveforms  (channel, tick) [ADC], int16 or float32; other integers and float64 are copied. Or a Frame with one tag, or Traces,
                   whose channels, times, masks and ident are then the defaults
        channels   channel id of each row; default: those of the pipeline's anodes, ascending
        masks      by name: (n, 3) channel, begin tick, end tick, counted from start_ns: sample t of a row is tick
                   first_tick + t. "bad" ranges are treated as dead
        tick_ns    sampling period; default: that of the detector

        Raise spng.Error for input that the chain rejects, as from a file. The pipeline can be used again.
        """
        return self.submit(
            waveforms,
            channels,
            masks,
            ident=ident,
            start_ns=start_ns,
            tick_ns=tick_ns,
            first_tick=first_tick,
        ).result()

    def submit(
        self,
        waveforms: Waveforms,
        channels: Sequence[int] | np.ndarray | None = None,
        masks: Mapping[str, np.ndarray | Sequence[Sequence[int]]] | None = None,
        *,
        ident: int | None = None,
        start_ns: float | None = None,
        tick_ns: float | None = None,
        first_tick: int | None = None,
    ) -> PendingFrame:
        """Queue one event, and return at once unless the queue is full. Arguments and errors as for a call.

        Do not change the samples before the result is there.
        """
        traces, defaults = _traces_and_frame(waveforms)
        if channels is None:
            channels = traces.channels
        samples, is_torch = _contiguous(traces.samples)
        pending = self._core.submit(
            samples,
            _channel_ids(channels),
            defaults.ident if ident is None else ident,
            traces.start_ns if start_ns is None else start_ns,
            traces.tick_ns if tick_ns is None else tick_ns,
            traces.first_tick if first_tick is None else first_tick,
            ranges_of(defaults.masks if masks is None else masks),
        )
        return PendingFrame(pending, samples.device if is_torch else None)

    def map(self, frames: Iterable[Waveforms], progress: bool = False) -> Iterator[Frame]:
        """Process events one after the other, with the next ones queued already, and yield their results in order.

        progress  show a bar (needs tqdm)
        """
        waiting: deque[PendingFrame] = deque()
        for frame in _with_bar(frames) if progress else frames:
            waiting.append(self.submit(frame))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """Process the queued events, then free the chain. Later calls raise spng.Error."""
        self._core.close()

    @property
    def is_closed(self) -> bool:
        """True after close()."""
        return self._core.is_closed()

    @property
    def devices(self) -> list[str]:
        """The devices that process events: ["cpu"] or ["cuda:0"]."""
        return self._core.devices()

    @property
    def tick_ns(self) -> float:
        """The sampling period of the detector's frames [ns]."""
        return self._core.tick_ns()

    @property
    def planes(self) -> dict[str, np.ndarray]:
        """Channel ids of each wire plane, ascending, by name: "U", "V", "W"; with several anodes "U of anode 1"."""
        planes = self._core.planes()
        is_one = len({anode for anode, _, _ in planes}) == 1
        return {
            "UVW"[plane] if is_one else f"{'UVW'[plane]} of anode {anode}": np.array(ids, np.int32)
            for anode, plane, ids in planes
        }

    def timing(self) -> dict[str, Any]:
        """Return time, operations and memory of each node: the content of the file of wire-cell --timing."""
        return json.loads(self._core.timing_json())

    def timing_table(self, width: int = 100) -> str:
        """Return the same as a table."""
        return self._core.timing_text(width)


class PendingFrame:
    """The result of Pipeline.submit()."""

    def __init__(self, pending: _core.Pending, device: torch.device | None) -> None:
        """Take the result of _core, and the device of the input, which is None for NumPy arrays."""
        self._pending: _core.Pending | None = pending
        self._device = device
        self._frame: Frame | None = None

    def wait(self, seconds: float = NO_LIMIT) -> bool:
        """Wait for the result, at most so long. Return whether it is there. Ctrl-C raises KeyboardInterrupt."""
        return self._pending is None or self._pending.wait(seconds)

    def result(self) -> Frame:
        """Wait for the result and return it. Raise spng.Error if the event failed."""
        if self._frame is None:
            if self._pending is None:
                raise RuntimeError("the event failed, and its error was raised before")
            self.wait()
            pending, self._pending = self._pending, None
            self._frame = _like_input(pending.result(), self._device)
        return self._frame


def _with_bar(frames: Iterable[Waveforms]) -> Iterable[Waveforms]:
    """Return the frames with a bar of progress. Raise spng.Error if tqdm is not installed."""
    return required("tqdm.auto", "a bar of progress needs", "Configuration").tqdm(frames, unit="event")


def _traces_and_frame(waveforms: Waveforms) -> tuple[Traces, Frame]:
    """Return waveforms of any kind as traces, and the frame that they are from. A tick of 0 means the detector's."""
    if isinstance(waveforms, Frame):
        return waveforms.only(), waveforms
    if isinstance(waveforms, Traces):
        return waveforms, Frame({})
    return Traces("", waveforms, np.empty(0, np.int32), tick_ns=0.0), Frame({})


def _contiguous(samples: Any) -> tuple[Any, bool]:
    """Return samples (channel, tick) in C order, and whether they are a torch tensor. Raise spng.Error for anything else."""
    if isinstance(samples, SparseSamples):
        samples = samples.dense()
    is_torch = type(samples).__module__.partition(".")[0] == "torch"
    name = str(getattr(samples, "dtype", "")).removeprefix("torch.")
    if not isinstance(samples, np.ndarray) and not is_torch:
        raise input_error(
            "the waveforms are neither an array nor a tensor",
            seen=type(samples).__name__,
            expected="numpy.ndarray, torch.Tensor, spng.Frame or spng.Traces",
        )
    if name not in SAMPLE_TYPES:
        raise input_error(
            "the waveforms have a type that cannot be ADC counts",
            seen=f"dtype {name}",
            expected=", ".join(SAMPLE_TYPES),
            hint="convert them: adc.astype('float32')",
        )
    if samples.ndim != 2:
        raise input_error(
            "the waveforms have the wrong number of axes",
            seen=f"shape {tuple(samples.shape)}",
            expected="(channel, tick)",
        )
    if is_torch:
        samples = samples.detach().contiguous()
        if samples.is_cuda:
            import torch

            # Pipeline.h: the samples must be complete.
            torch.cuda.current_stream(samples.device).synchronize()
        return samples, True
    return np.ascontiguousarray(samples), False


def _channel_ids(channels: Any) -> list[int]:
    ids = np.asarray(channels)
    if ids.ndim != 1 or (ids.size and not np.issubdtype(ids.dtype, np.integer)):
        raise input_error(
            "the channel ids are no list of integers",
            seen=f"{ids.dtype} {ids.shape}",
            expected="integers (channel,)",
        )
    if ids.size and (ids.min() < -(2**31) or ids.max() >= 2**31):
        raise input_error(
            "a channel id is too large", seen=str(max(ids.max(), -ids.min())), expected="integers of 32 bits"
        )
    return ids.tolist()


def _like_input(frame: Frame, device: torch.device | None) -> Frame:
    """Return the frame with dense samples as torch tensors on a device; without a device, those of the host as NumPy arrays."""
    traces = {
        tag: replace(each, samples=_samples_on(device, each.samples)) for tag, each in frame.traces.items()
    }
    return replace(frame, traces=traces)


def _samples_on(device: torch.device | None, samples: Any) -> Any:
    if isinstance(samples, SparseSamples):
        return samples
    if not isinstance(samples, np.ndarray):
        return _device_tensor(samples)
    if device is None:
        return samples
    import torch

    return torch.from_numpy(samples).to(device)


def _device_tensor(samples: Any) -> torch.Tensor:
    """Return the tensor of a device, in memory of torch: that of the chain may be used again by its next event."""
    import torch

    tensor = torch.from_dlpack(samples).clone()
    torch.cuda.current_stream(tensor.device).synchronize()
    return tensor


@atexit.register
def _close_all() -> None:
    """Close pipelines that are still open, so that their threads end before the interpreter."""
    for pipeline in list(_open):
        pipeline.close()
