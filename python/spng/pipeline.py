# SPDX-License-Identifier: Apache-2.0
"""The chain as an object: waveforms in, charge with regions of interest (ROIs) out."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import threading
import weakref
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import checked, seen
from .conversion import RESERVED, arguments_of, at_least, integers_of, json_text, ranges_of, require_32_bits
from .errors import Error, input_error
from .frame import Frame, SparseSamples, Traces, require_frame
from .process import native
from .progress import with_bar

if TYPE_CHECKING:
    import torch

    from . import _core

    Waveforms = np.ndarray | torch.Tensor | Frame | Traces
    Channels = Sequence[int] | np.ndarray | None
else:  # _traces_and_frame() and _channel_ids() check them
    Waveforms = Channels = Any

SAMPLE_TYPES = ("int16", "uint16", "int32", "int64", "float32", "float64")
NO_LIMIT = 1e9  # seconds

_open: weakref.WeakSet[Pipeline] = weakref.WeakSet()
os.register_at_fork(after_in_child=_open.clear)  # the threads of a parent's pipelines are not in its child


class Pipeline:
    """A warm pipeline: files, tables, network and device are kept until close(), or the end of a `with` block.

    Call it with waveforms (channel, tick) [ADC]; it returns a Frame with the traces of each tag. NumPy arrays and torch
    tensors are read without copies. Torch tensors give torch tensors on the same device; with results_on_device nothing
    passes the host. Calls may come from several threads. The GIL is released while the chain works.
    """

    @checked
    def __init__(
        self,
        detector: str = "pdhd",
        anode: int | Sequence[int] = 0,
        model: str | os.PathLike[str] = "default",
        device: str = "auto",
        *,
        tags: str | Sequence[str] = "signal",
        sparse: bool = False,
        results_on_device: bool = False,
        queue_size: int = 4,
        configuration: str | os.PathLike[str] = "",
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
        options.anodes = [anode] if isinstance(anode, int) else [int(each) for each in anode]
        options.sparse = sparse
        options.results_on_device = results_on_device
        if not tags:
            raise Error("Usage", "there is no tag", "argument tags", seen(tags), "at least one tag")
        options.queue_size = at_least(1, queue_size, "queue_size")
        options.set_strings(
            detector,
            os.fspath(model),
            device,
            os.fspath(configuration),
            tags.split(",") if isinstance(tags, str) else list(tags),
            [f"{key}={json_text(value)}" for key, value in (set or {}).items()],
            arguments_of(arguments, {} if configuration else RESERVED),
        )
        self._core = core.Pipeline(options)
        self._about = f"detector={detector!r}, anode={anode!r}, model={model!r}"
        _open.add(self)

    def __repr__(self) -> str:
        if self._core.is_of_other_process():
            state = "of another process"
        else:
            state = "closed" if self.is_closed else f"on {', '.join(self.devices)}"
        return f"<spng.Pipeline: {self._about}, {state}>"

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._core.is_of_other_process():  # a child of fork leaves the block of its parent
            self.close()

    def __call__(
        self,
        waveforms: Waveforms,
        channels: Channels = None,
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

    @checked
    def submit(
        self,
        waveforms: Waveforms,
        channels: Channels = None,
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
        event_ident = int(defaults.ident) if ident is None else ident
        pending = self._core.submit(
            samples.__dlpack__() if is_torch else samples,
            _channel_ids(channels),
            event_ident,
            float(traces.start_ns if start_ns is None else start_ns),
            float(traces.tick_ns if tick_ns is None else tick_ns),
            int(traces.first_tick) if first_tick is None else first_tick,
            ranges_of(defaults.masks if masks is None else masks),
        )
        return PendingFrame(pending, event_ident, samples.device if is_torch else None)

    @checked
    def map(self, frames: Iterable[Waveforms], progress: bool = False) -> Iterator[Frame]:
        """Process events one after the other, with the next ones queued already, and yield their results in order.

        progress  show a bar: of tqdm if it is installed, else a line on stderr
        """
        waiting: deque[PendingFrame] = deque()
        for frame in with_bar(frames) if progress else frames:
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

    @checked
    def timing_table(self, width: int = 100) -> str:
        """Return the same as a table."""
        return self._core.timing_text(at_least(1, width, "width"))


class PendingFrame:
    """The result of Pipeline.submit(). `await pending` waits for it in a coroutine."""

    def __init__(self, pending: _core.Pending, ident: int, device: torch.device | None) -> None:
        """Take the result of _core, the ident of the event, and the device of the input, which is None for NumPy arrays."""
        self._pending: _core.Pending | None = pending
        self._ident = ident
        self._device = device
        self._result: Frame | Error | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        try:
            state = "done" if self.done() else "waiting"
        except Error:
            state = "of another process"
        if isinstance(self._result, Error):
            state = "failed"
        return f"<PendingFrame: event {self._ident}, {state}>"

    def __await__(self) -> Generator[Any, None, Frame]:
        return asyncio.get_running_loop().run_in_executor(None, self.result).__await__()

    def done(self) -> bool:
        """Tell whether result() returns, or raises, at once."""
        return self.wait(0)

    @checked
    def wait(self, seconds: float = NO_LIMIT) -> bool:
        """Wait for the result, at most so long. Return whether it is there. Ctrl-C raises KeyboardInterrupt."""
        pending = self._pending
        return pending is None or pending.wait(seconds)

    def result(self) -> Frame:
        """Wait for the result and return it. Raise spng.Error if the event failed."""
        self.wait()
        with self._lock:
            if self._pending is not None:
                try:
                    self._result = _like_input(self._pending.result(), self._device)
                except Error as error:
                    self._result = error
                self._pending = None
        if isinstance(self._result, Error):
            raise self._result
        assert self._result is not None
        return self._result


def _traces_and_frame(waveforms: Waveforms) -> tuple[Traces, Frame]:
    """Return waveforms of any kind as traces, and the frame that they are from. A tick of 0 means the detector's."""
    if isinstance(waveforms, Frame):
        return require_frame(waveforms).only(), waveforms
    if isinstance(waveforms, Traces):
        require_frame(Frame({waveforms.tag: waveforms}))
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
    ids = integers_of(channels)
    if ids is None or ids.ndim != 1:
        raise input_error(
            "the channel ids are no list of integers",
            seen=seen(channels) if ids is None else f"{ids.dtype} {ids.shape}",
            expected="integers (channel,)",
        )
    require_32_bits(ids, "channels")
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
    """Return the tensor of a device, in memory of torch: that of the chain may be used again by its next event.

    A DLPack capsule is used up by from_dlpack(): `source` alone keeps the memory, and must do so until the copy is done.
    """
    import torch

    source = torch.from_dlpack(samples)
    tensor = source.clone()
    torch.cuda.current_stream(tensor.device).synchronize()
    return tensor


@atexit.register
def _close_all() -> None:
    """Close pipelines that are still open, so that their threads end before the interpreter."""
    for pipeline in list(_open):
        pipeline.close()
