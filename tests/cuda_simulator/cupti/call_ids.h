// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names and ids of the CUDA functions that the simulator has.

#include <cstdint>
#include <string_view>

namespace cuda_simulator {

/// Return the id of a function of the runtime, with or without its version: cudaMalloc_v3020 or cudaMalloc.
/// 0: unknown.
std::uint32_t runtime_call_id(std::string_view name);

/// Return the name of a function of the runtime or the driver, with its version; null: unknown.
const char* runtime_call_name(std::uint32_t id);
const char* driver_call_name(std::uint32_t id);

} // namespace cuda_simulator
