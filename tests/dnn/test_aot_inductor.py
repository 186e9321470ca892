# SPDX-License-Identifier: Apache-2.0
"""Networks compiled by AOTInductor: the exporter, and the program that runs its packages."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch._inductor import cpu_vec_isa  # noqa: E402

from scripts.dnnroi import export  # noqa: E402
from scripts.dnnroi.network import DNNROINet, Shape  # noqa: E402
from scripts.dnnroi.package import write_package  # noqa: E402
from tests.support import wire_cell  # noqa: E402

pytestmark = [
    wire_cell.needs_program,
    pytest.mark.skipif(shutil.which("g++") is None, reason="AOTInductor needs a C++ compiler"),
]

FEATURES = (4, 8, 8)


@pytest.fixture(name="models", scope="module")
def fixture_models(tmp_path_factory: pytest.TempPathFactory) -> tuple[DNNROINet, Path, Path]:
    """Untrained network, its TorchScript file and its package."""
    folder = tmp_path_factory.mktemp("models")
    torch.manual_seed(3)
    network = DNNROINet(Shape(features=FEATURES, down=(1, 1, 1), up=(1, 1))).eval()
    about = export.metadata(
        network,
        {},
        {},
        {
            "training_noise": {"loose": [400.0, 450.0], "tight": [200.0, 220.0]},
            "noise_range": [0.5, 2.0],
            "detector": "pdhd",
            "tick": 500.0,
        },
    )
    script, package = folder / "network.ts", folder / "network.pt2"
    export.write_torch_script(script, network, about)
    # Processes of a pool would each load LibTorch; the wrapper needs no optimisation;
    # a header that is compiled in advance serves one file each.
    quick = {
        "compile_threads": 1,
        "cpp.vec_isa_ok": True,
        "cpp_cache_precompile_headers": False,
        "aot_inductor.precompile_headers": False,
        "aot_inductor.compile_wrapper_opt_level": "O0",
    }
    # Every other set of the x86 processors is tried by a compilation and a Python that loads LibTorch.
    plain = [one for one in cpu_vec_isa.supported_vec_isa_list if type(one) is cpu_vec_isa.VecAVX2]
    with pytest.MonkeyPatch.context() as patch, torch._inductor.config.patch(quick):
        patch.setattr(cpu_vec_isa, "supported_vec_isa_list", plain)
        write_package(package, network, about)
    return network, script, package


def test_package_equals_the_network_at_other_sizes(models: tuple[DNNROINet, Path, Path]) -> None:
    network, _, package = models
    compiled = torch._inductor.aoti_load_package(str(package))
    multiple = max(network.multiple)
    for views, channels, ticks in ((1, 1, 1), (2, 3, 5), (3, 2, 9)):
        images = torch.rand(views, 4, channels * multiple, ticks * multiple)
        with torch.no_grad():
            expected = export.Probability(network)(images)
            seen = compiled(images)
        assert seen.shape == expected.shape
        assert (seen - expected).abs().max() < 1e-5


def test_program_finds_the_same_regions(models: tuple[DNNROINet, Path, Path], tmp_path: Path) -> None:
    """Package and TorchScript file give the same ROIs; the threshold is the median output of this network."""
    _, script, package = models
    samples, channels, start = wire_cell.default_adc()
    event = wire_cell.event(samples[:, : samples.shape[1] // 2], channels, start_ns=start)
    given = wire_cell.write_arrays(tmp_path / "adc.npz", event)
    masks = {}
    for model in (script, package):
        tap = tmp_path / f"{model.suffix[1:]}.npz"
        wire_cell.job(tmp_path, input=given, model=model, output=tap.name, tags="roi")
        masks[model.suffix] = wire_cell.read_arrays(tap)["frame_roi_0"][:1600]
    assert 0.001 < masks[".ts"].mean() < 0.999
    same = np.mean(masks[".ts"] == masks[".pt2"])
    assert same > 0.9999


def test_damaged_packages_are_rejected(models: tuple[DNNROINet, Path, Path], tmp_path: Path) -> None:
    _, script, package = models
    cut = tmp_path / "cut.pt2"
    cut.write_bytes(package.read_bytes()[:20_000])
    renamed = shutil.copy(script, tmp_path / "renamed.pt2")
    content = bytearray(package.read_bytes())
    content[len(content) // 2] ^= 1
    flipped = tmp_path / "flipped.pt2"
    flipped.write_bytes(content)
    for path in (cut, renamed, flipped):
        block = wire_cell.rejected("-c", wire_cell.PIPELINE, "-A", f"model={path}", folder=tmp_path, status=1)
        assert "cannot load a model file" in block and path.name in block
