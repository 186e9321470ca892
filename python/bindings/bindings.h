// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of the Python module spng._core, one source file each.

#include "python/bindings/text.h"

#include <nanobind/nanobind.h>

#include <map>
#include <string>

namespace spng::python {

/// Return arguments by name.
std::map<std::string, std::string> strings_of(const std::map<std::string, Text>& strings);

/// Let spng::Error reach Python as spng.Error.
void bind_errors();

/// Add FrameReader, FrameAssembly, FrameWriter and checked().
void bind_frame_files(nanobind::module_& module);

/// Add Pipeline, PipelineOptions, Pending, and the settings of the process.
void bind_pipeline(nanobind::module_& module);

/// Add Simulation.
void bind_simulation(nanobind::module_& module);

} // namespace spng::python
