# SPDX-License-Identifier: Apache-2.0
"""Call operators of LibTorch on the CPU and on the simulated CUDA runtime; print the differences as JSON.

A program of its own, because the simulator is preloaded: test_operators.py runs it.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as tf

RELATIVE, ABSOLUTE = 2e-5, 2e-6  # other orders of summation; 2 digits of bfloat16
BFLOAT16 = 2e-2

torch.manual_seed(20261123)
A, B = torch.randn(4, 5, 6), torch.randn(4, 5, 6)
Z = torch.randn(4, 5, dtype=torch.complex64)
IMAGE = torch.randn(2, 3, 10, 12)
WEIGHT, BIAS = torch.randn(7, 3, 3, 3), torch.randn(7)
CHANNELS = (torch.rand(3), torch.rand(3) + 1)
FEW, ONE = torch.tensor([1, 2, 2, 5]), torch.tensor(2.5)

Case = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]


def assigned(values: torch.Tensor, *index: Any) -> torch.Tensor:
    result = values.clone()
    result[index] = 7
    return result


CASES: dict[str, Case] = {
    # element by element
    "add": (lambda a, b: a + b, (A, B)),
    "add in place": (lambda a, b: a.clone().add_(b, alpha=2), (A, B)),
    "add to an output": (lambda a, b: torch.add(a, b, out=torch.empty(0, device=a.device)), (A, B)),
    "scalar of float64": (lambda a: a.to(torch.float32) * 1.4826, (A,)),
    "0-dim tensor of the host": (lambda a: a + ONE, (A,)),
    "complex product": (lambda a: a * a.conj(), (Z,)),
    "complex magnitude, compiled by NVRTC": (torch.abs, (Z,)),
    "complex parts": (lambda a: (a.real * 2, torch.view_as_real(a) + 1, a.imag.clone()), (Z,)),
    "complex from parts": (torch.complex, (A, B)),
    "polar": (lambda a, b: torch.polar(a.abs(), b), (A, B)),
    "where": (lambda a, b: torch.where(a > b, a, 0.5), (A, B)),
    "integers": (lambda a: (a.int() // 2, a.int() % 3, a.int() << 1, a.long() & 3), (A,)),
    "types": (lambda a: (a.double(), a.short(), a.bfloat16(), a.permute(2, 0, 1).half()), (A,)),
    "fill": (lambda a: (a.clone().fill_(2), torch.zeros_like(a), torch.full_like(a, 3)), (A,)),
    "in a list": (lambda a, b: torch._foreach_add([a, b], [b, b]), (A, B)),
    "activations": (lambda a: (a.relu(), a.sigmoid(), tf.leaky_relu(a, 0.1), tf.silu(a)), (A,)),
    # layout
    "contiguous": (lambda a: a.transpose(0, 2).contiguous() * 2, (A,)),
    "expanded": (lambda a: a[:, :1].expand(-1, 5, -1) + 1, (A,)),
    "part of memory": (lambda a: a[1:3, ::2, 1:].mul_(2), (A,)),
    "concatenated": (lambda a, b: (torch.cat([a, b], 1), torch.stack([a, b], 1)), (A, B)),
    "moved": (lambda a: (a.flip(1), a.roll(2, -1), a.clone()), (A,)),
    "padded": (lambda a: (tf.pad(a, (1, 2, 3, 4)), tf.pad(a, (1, 2), mode="reflect")), (A,)),
    "windows": (lambda a: a.unfold(-1, 3, 1).amax(-1), (A,)),
    "empty": (lambda a: (a[:0] + 1, a[:, :0].sum(-1)), (A,)),
    # along a dimension
    "sums": (lambda a: (a.sum(), a.mean(-1), a.std(0), a.amax((0, 2)), (a > 0).any(-1)), (A,)),
    "cumulative": (lambda a: (a.cumsum(-1), a.cummax(1)), (A,)),
    "order": (lambda a: (a.sort(-1), a.median(-1), a.topk(3, -1), a.kthvalue(2, -1)), (A,)),
    "quantile": (lambda a: a.quantile(0.3, -1), (A,)),
    "searchsorted": (lambda a: torch.searchsorted(a, a + 0.1), (A.sort(-1)[0],)),
    "histogram": (lambda a: torch.histc(a, 5, -1, 1), (A,)),
    # by index
    "index_copy": (lambda a, b, i: a.clone().index_copy_(0, i, b[:2]), (A, B, torch.tensor([3, 1]))),
    "index_select": (lambda a, i: a.index_select(1, i), (A, torch.tensor([3, 1]))),
    "index": (lambda a, i: a[:, i, 1], (A, torch.tensor([3, 1]))),
    "scatter_add": (lambda a, i: a.clone().scatter_add_(1, i, a[:, :1]), (A, torch.zeros(4, 1, 6).long())),
    "gather": (lambda a, i: a.gather(1, i), (A, torch.ones(4, 1, 6).long())),
    "masked_fill": (lambda a: a.masked_fill(a > 0, 1.5), (A,)),
    # of a size that depends on values
    "nonzero": (lambda a: (a > 0).nonzero(), (A,)),
    "mask": (lambda a: (a[a > 0], a[:, a[0, :, 0] > 0]), (A,)),
    "mask of an assignment": (lambda a: (assigned(a, a > 0), assigned(a, slice(None), a[0, :, 0] > 0)), (A,)),
    "unique": (lambda a: (a * 2).int().unique(return_inverse=True), (A,)),
    "bincount": (torch.bincount, (FEW,)),
    "repeat_interleave": (lambda a: torch.repeat_interleave(a), (FEW,)),
    "value": (lambda a: a.sum().item(), (FEW,)),
    "equal": (lambda a, b: (torch.equal(a, a), torch.equal(a, b)), (A, B)),
    # made on the device
    "range": (lambda a: torch.arange(10, device=a.device) + a.sum(), (FEW,)),
    "indices": (lambda a: (torch.tril_indices(3, 3, device=a.device), torch.eye(3, device=a.device)), (A,)),
    # transforms
    "real": (lambda a: (torch.fft.rfft(a), torch.fft.rfft(a, dim=0), torch.fft.rfft(a, n=9)), (A,)),
    "real from spectrum": (
        lambda a: (torch.fft.irfft(a, n=9), torch.fft.irfft(a), torch.fft.irfft2(a)),
        (Z,),
    ),
    "complex": (lambda a: (torch.fft.fft(a, dim=0), torch.fft.ifft(a), torch.fft.fft2(a)), (Z,)),
    "float64": (lambda a: torch.fft.irfft(torch.fft.rfft(a.double(), dim=1), 5, dim=1), (A,)),
    "several dimensions": (
        lambda a: (torch.fft.rfft2(a, dim=(0, 2)), torch.fft.irfftn(torch.fft.rfftn(a))),
        (A,),
    ),
    "two-sided": (lambda a: (torch.fft.fft(a), torch.fft.ihfft(a)), (A,)),
    # the network
    "convolution": (lambda a, w, b: tf.conv2d(a, w, b, padding=1, stride=2), (IMAGE, WEIGHT, BIAS)),
    "convolution, channels last": (
        lambda a, w: tf.conv2d(a.to(memory_format=torch.channels_last), w, dilation=2),
        (IMAGE, WEIGHT),
    ),
    "convolution, bfloat16": (lambda a, w: tf.conv2d(a.bfloat16(), w.bfloat16()), (IMAGE, WEIGHT)),
    "transposed": (lambda a, w: tf.conv_transpose2d(a, w, stride=2, output_padding=1), (IMAGE, WEIGHT[:3])),
    "depthwise": (lambda a, w: tf.conv2d(a, w[:3, :1], groups=3, padding=1), (IMAGE, WEIGHT)),
    "convolution and ReLU": (
        lambda a, w, b: (
            torch.cudnn_convolution_relu(a, w, b, (1, 1), (1, 1), (1, 1), 1)
            if a.is_cuda
            else tf.conv2d(a, w, b, padding=1).relu()
        ),
        (IMAGE, WEIGHT, BIAS),
    ),
    "one and three dimensions": (
        lambda a: (
            tf.conv1d(a[0], a[:, 0, :, :3]),
            tf.conv3d(a[None], a[:2, :, :2, :2, None]),
        ),
        (torch.randn(3, 3, 5, 5),),
    ),
    "normalisation": (lambda a, m, v: tf.batch_norm(a, m, v, m, v), (IMAGE, *CHANNELS)),
    "pooling": (lambda a: (tf.max_pool2d(a, 2), tf.avg_pool2d(a, 2)), (IMAGE,)),
    "interpolation": (lambda a: tf.interpolate(a, scale_factor=2, mode="bilinear"), (IMAGE,)),
    "products": (
        lambda a, b: (
            a @ b.mT,
            a[0] @ b[0].T,
            a[0] @ b[0, 0],
            tf.linear(a[0], b[0], b[0, :, 0]),
            a[0, 0] @ b[0, 0],
        ),
        (A, B),
    ),
}


def tensors_of(value: Any) -> Iterable[Any]:
    """Return tensors, and numbers as they are, of nested tuples."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from tensors_of(part)
    else:
        yield value


def difference(expected: Any, seen: Any) -> str | None:
    if not isinstance(expected, torch.Tensor):
        return None if seen == expected else f"{seen} instead of {expected}"
    if (seen.dtype, seen.shape) != (expected.dtype, expected.shape):
        return f"{seen.dtype} {tuple(seen.shape)} instead of {expected.dtype} {tuple(expected.shape)}"
    seen = seen.cpu()
    if not (expected.is_floating_point() or expected.is_complex()):
        return None if torch.equal(seen, expected) else "other values"
    relative = BFLOAT16 if expected.dtype is torch.bfloat16 else RELATIVE
    if torch.allclose(seen, expected, rtol=relative, atol=max(ABSOLUTE, relative / 10), equal_nan=True):
        return None
    return f"differs by {(seen - expected).abs().max().item()}"


def check(name: str) -> str | None:
    """Return what differs in a case, or the first line of an error."""
    function, tensors = CASES[name]
    expected = function(*(tensor.clone() for tensor in tensors))
    try:
        seen = function(*(tensor.cuda() for tensor in tensors))
    except (RuntimeError, NotImplementedError) as error:
        return str(error).splitlines()[0]
    found = [difference(*pair) for pair in zip(tensors_of(expected), tensors_of(seen), strict=True)]
    return next((text for text in found if text is not None), None)


def replays() -> str | None:
    """A captured graph computes anew from what its input holds at each replay."""
    values = A.cuda()
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())

    def work(a: torch.Tensor) -> torch.Tensor:
        return torch.fft.rfft(a * 2).real + a.sum()

    with torch.cuda.stream(stream):
        work(values)
        graph.capture_begin(capture_error_mode="thread_local")
        result = work(values)
        graph.capture_end()
    torch.cuda.synchronize()
    for factor in (1, 3):
        values.copy_(factor * B)
        torch.cuda.synchronize()
        graph.replay()
        torch.cuda.synchronize()
        found = difference(work(factor * B), result)
        if found is not None:
            return f"replay with factor {factor} {found}"
    return None


def between_devices() -> str | None:
    """Copies between devices, of one type and with a conversion of type and layout."""
    first, second = A.to("cuda:0"), torch.zeros(6, 5, 4, dtype=torch.float64, device="cuda:1")
    second.copy_(first.permute(2, 1, 0))
    return difference(A.permute(2, 1, 0).double(), second) or difference(A, first.to("cuda:1") * 1)


def errors_of_plans() -> list[int]:
    """Return cuFFT's answers to wrong calls."""
    fft = ctypes.CDLL("libcufft.so.12")
    handle, work, data = ctypes.c_int(), ctypes.c_size_t(), A.cuda().data_ptr()
    real, spectrum = 0, 4  # CUDA_R_32F, CUDA_C_32F

    def make(size: int, output: int) -> int:
        sizes = (ctypes.c_longlong * 1)(size)
        one = ctypes.c_longlong(1)
        batch = ctypes.c_longlong(2)
        code: int = fft.cufftXtMakePlanMany(
            handle,
            1,
            sizes,
            None,
            one,
            one,
            real,
            None,
            one,
            one,
            output,
            batch,
            ctypes.byref(work),
            spectrum,
        )
        return code

    codes = [
        fft.cufftXtExec(77, ctypes.c_void_p(data), ctypes.c_void_p(data), -1),
        fft.cufftCreate(ctypes.byref(handle)),
    ]
    codes += [fft.cufftXtExec(handle, ctypes.c_void_p(data), ctypes.c_void_p(data), -1)]
    codes += [make(0, spectrum), make(6, real), make(6, spectrum), make(6, spectrum)]
    codes += [
        fft.cufftXtExec(handle, None, ctypes.c_void_p(data), -1),
        fft.cufftDestroy(handle),
        fft.cufftDestroy(handle),
    ]
    return codes


def main() -> None:
    found: dict[str, Any] = {name: check(name) for name in CASES}
    found["replays of a graph"] = replays()
    found["copies between devices"] = between_devices()
    torch._masked_scale(A.cuda(), (A > 0).byte().cuda(), 2.0)  # has no kernel for the CPU
    torch.cuda.synchronize()
    print(
        json.dumps(
            {"differences": {k: v for k, v in found.items() if v is not None}, "plans": errors_of_plans()}
        )
    )


if __name__ == "__main__":
    main()
