// SPDX-License-Identifier: Apache-2.0
#include "spng/job/configuration.h"

#include "spng/core/error.h"
#include "spng/io/data_path.h"
#include "spng/io/json_file.h"

#include <algorithm>
#include <system_error>

namespace spng {
namespace {

namespace fs = std::filesystem;

bool is_json(const fs::path& file) {
    return file.filename().string().find(".json") != std::string::npos && file.extension() != ".jsonnet";
}

/// The project's own Jsonnet folders; empty for a library that was installed without them.
std::vector<fs::path> own_jsonnet_folders() {
    const fs::path own = own_folder("cfg");
    return own.empty() ? std::vector<fs::path>{} : std::vector<fs::path>{own, own / "lib"};
}

bool is_own(const fs::path& file, const std::vector<fs::path>& own) {
    std::error_code problem;
    return !own.empty() && fs::equivalent(fs::absolute(file).parent_path(), own.front(), problem);
}

/// Return the folders that imports of a configuration are searched in. The project's own configurations search WIRECELL_PATH
/// last: it names the Jsonnet of the Wire-Cell Toolkit in many environments, which has files of the same names.
std::vector<fs::path> import_folders(const fs::path& file) {
    std::vector<fs::path> folders = search_path();
    const auto own = own_jsonnet_folders();
    auto position = folders.end();
    if (is_own(file, own)) {
        const auto environment = folders_of_environment("WIRECELL_PATH");
        position = std::find_end(folders.begin(), folders.end(), environment.begin(), environment.end());
    }
    folders.insert(position, own.begin(), own.end());
    return folders;
}

nlohmann::json load_json(const fs::path& file, const std::vector<JsonnetBinding>& bindings) {
    if (!bindings.empty()) {
        throw Error(ErrorKind::Configuration,
                    {.what = "the configuration takes no arguments",
                     .where = file.string(),
                     .seen = bindings.front().name + "=" + bindings.front().value,
                     .expected = "no -A, --tla-code, -V or -C: the file is plain JSON"});
    }
    return load_json_file(file.string());
}

/// Return the names of the plugins. Skip malformed components: Job reports them.
std::vector<std::string> plugins_of(const nlohmann::json& components) {
    std::vector<std::string> plugins;
    if (!components.is_array()) {
        return plugins;
    }
    for (const auto& component : components) {
        if (!component.is_object() || component.value("type", nlohmann::json()) != "wire-cell") {
            continue;
        }
        const auto data = component.value("data", nlohmann::json::object());
        const auto names =
            data.is_object() ? data.value("plugins", nlohmann::json::array()) : nlohmann::json();
        for (const auto& name : names) {
            if (name.is_string()) {
                plugins.push_back(name.get<std::string>());
            }
        }
    }
    return plugins;
}

} // namespace

std::filesystem::path find_configuration(const std::string& name) {
    std::vector<fs::path> folders = own_jsonnet_folders();
    if (!folders.empty()) {
        // "cfg/pipeline.jsonnet" works from any folder.
        folders.push_back(folders.front().parent_path());
    }
    return find_file(name, folders, "configuration file");
}

Configuration load_configuration(const std::string& name, const std::vector<JsonnetBinding>& bindings,
                                 const std::vector<JsonnetQuestion>& questions) {
    Configuration configuration;
    configuration.file = find_configuration(name);
    if (is_json(configuration.file)) {
        configuration.components = load_json(configuration.file, bindings);
    } else {
        configuration.components =
            evaluate_jsonnet(configuration.file, bindings, import_folders(configuration.file), questions);
        configuration.defaults = default_arguments(configuration.file);
    }
    configuration.plugins = plugins_of(configuration.components);
    return configuration;
}

} // namespace spng
