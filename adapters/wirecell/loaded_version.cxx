// SPDX-License-Identifier: Apache-2.0
#include "adapters/wirecell/version.h"

#include "WireCellUtil/BuildConfig.h"

#include <dlfcn.h>

namespace spng::wirecell {

std::string wirecell_of_build() {
    return WIRECELL_VERSION;
}

std::string wirecell_of_process() {
    // WireCell::version of WireCellUtil/Version.h. Including that header would define the variable here too.
    const auto* version = static_cast<const char* const*>(dlsym(RTLD_DEFAULT, "_ZN8WireCell7versionE"));
    return version == nullptr || *version == nullptr ? "" : *version;
}

} // namespace spng::wirecell
