// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of the module spng._core. The classes for users are in python/spng/.

#include <nanobind/nanobind.h>

namespace spng::python {

/// Turn spng::Error into Python's spng.Error.
void bind_errors();

void bind_frame_files(nanobind::module_& module);
void bind_pipeline(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);

} // namespace spng::python
