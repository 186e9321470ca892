// SPDX-License-Identifier: Apache-2.0
// The Python module spng._core.

#include "python/bindings/bindings.h"

namespace spng::python {

std::map<std::string, std::string> strings_of(const std::map<std::string, Text>& strings) {
    std::map<std::string, std::string> found;
    for (const auto& [name, text] : strings) {
        found.emplace(name, text.bytes);
    }
    return found;
}

} // namespace spng::python

NB_MODULE(_core, module) {
    spng::python::bind_errors();
    spng::python::bind_frame_files(module);
    spng::python::bind_pipeline(module);
    spng::python::bind_simulation(module);
}
