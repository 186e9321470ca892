// SPDX-License-Identifier: Apache-2.0
// The Python module spng._core.

#include "python/bindings/bindings.h"

NB_MODULE(_core, module) {
    spng::python::bind_errors();
    spng::python::bind_frame_files(module);
    spng::python::bind_pipeline(module);
    spng::python::bind_simulation(module);
}
