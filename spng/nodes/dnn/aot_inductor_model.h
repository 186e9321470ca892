// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks compiled ahead of time by AOTInductor (.pt2).

#include "spng/nodes/dnn/model.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <memory>

namespace spng {

/// Load a package written by scripts/dnnroi or torch._inductor.aoti_compile_and_package. It holds machine
/// code of the network for one kind of device, and accepts the shapes for which it was exported. The model
/// metadata are the entry "metadata.json" of the package metadata (option aot_inductor.metadata).
/// @param runners  maximum number of concurrent forwards
/// @throws Error(Model) if the file is missing, damaged or no package, or if it was compiled for another kind
///         of device, processor or system
std::unique_ptr<const Model> load_aot_inductor(const std::filesystem::path& file, c10::Device device,
                                               std::int64_t runners);

} // namespace spng
