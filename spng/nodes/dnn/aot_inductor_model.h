#pragma once
// Models compiled ahead of time by AOTInductor (.pt2).

#include "spng/nodes/dnn/model.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <memory>

namespace spng {

/// Load a package that scripts/dnnroi or torch._inductor.aoti_compile_and_package wrote: machine
/// code of the network for one kind of device, which takes the shapes that it was exported for. Metadata come
/// from the entry "metadata.json" of the package's own metadata (option aot_inductor.metadata).
/// @param runners  forwards at the same time
/// Throws Error(Model) for a file that is missing, damaged or no package, and for one compiled for another
/// kind of device, processor or system.
std::unique_ptr<const Model> load_aot_inductor(const std::filesystem::path& file, c10::Device device,
                                               std::int64_t runners);

} // namespace spng
