// SPDX-License-Identifier: Apache-2.0
#include "spng/job/plugins.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/nearest.h"
#include "spng/core/shared_library.h"
#include "spng/instrument/start_up.h"
#include "spng/job/wct_names.h"

#include <algorithm>
#include <vector>

namespace spng {
namespace {

/// Plugins of the Wire-Cell Toolkit (WCT) that need no library: their part in a signal processing job is built into this
/// program. The list contains all plugins that main() of WCT's pgraph.jsonnet adds to each job, so WireCellImg too; a
/// component of it is rejected by its type.
const std::vector<std::string> built_in{"WireCellSpng", "WireCellPgraph",  "WireCellTbb",
                                        "WireCellApps", "WireCellAux",     "WireCellSio",
                                        "WireCellGen",  "WireCellSigProc", "WireCellImg"};

std::string library_of(const std::string& plugin) {
    if (plugin.find('/') != std::string::npos || plugin.find(".so") != std::string::npos) {
        return plugin.find('/') == std::string::npos ? "./" + plugin : plugin;
    }
    const auto colon = plugin.find(':');
    const std::string library = colon == std::string::npos ? plugin : plugin.substr(colon + 1);
    return library.rfind("lib", 0) == 0 ? library + ".so" : "lib" + library + ".so";
}

} // namespace

void load_plugin(const std::string& plugin) {
    const std::string name = plugin.substr(0, plugin.find(':'));
    if (std::find(built_in.begin(), built_in.end(), name) != built_in.end()) {
        return;
    }
    if (const std::string instead = instead_of_wct_plugin(name); !instead.empty()) {
        throw Error(ErrorKind::Usage,
                    {.what = "plugin '" + name + "' of the Wire-Cell Toolkit (WCT) does not exist here",
                     .where = "-p, or plugins of the configuration",
                     .seen = plugin,
                     .expected = "one of the built-in plugins " + joined(built_in) + ", or none",
                     .hint = instead});
    }
    const instrument::StartUpPhase phase("load plugin " + name);
    const std::string file = library_of(plugin);
    const SharedLibrary library(file, SharedLibrary::Symbols::global);
    if (!library.is_open()) {
        throw Error(ErrorKind::Usage,
                    {.what = "plugin '" + plugin + "' cannot be loaded",
                     .where = "-p, or plugins of the configuration",
                     .seen = library.problem(),
                     .expected = "a shared library, or one of the built-in plugins " + joined(built_in),
                     .hint = suggestion(name, built_in,
                                        "name the library file, or add its folder to LD_LIBRARY_PATH")});
    }
    log::info("wire-cell", [&] { return "plugin " + plugin + " loaded from " + file; });
}

} // namespace spng
