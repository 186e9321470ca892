// SPDX-License-Identifier: Apache-2.0
#include "spng/device/device_list.h"

#include "spng/core/error.h"
#include "spng/core/parse_number.h"
#include "spng/device/cuda_plugin.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

namespace spng {
namespace {

[[noreturn]] void reject(const std::string& what, const std::string& text, const std::string& where) {
    throw Error(
        ErrorKind::Configuration,
        {.what = what,
         .where = where,
         .seen = "'" + text + "'",
         .expected = "one device, or several of one kind with commas: cuda:0,cuda:1; cuda:all; cpu,cpu"});
}

bool is_all(const std::string& name) {
    return name == "cuda:all" || name == "gpu:all";
}

} // namespace

std::vector<std::string> listed_devices(const std::string& text, const std::string& where) {
    std::vector<std::string> names;
    std::istringstream stream(text + ",");
    for (std::string name; std::getline(stream, name, ',');) {
        name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
        if (name.empty()) {
            reject("a device without a name", text, where);
        }
        if (name != "cpu" && name != "auto" && !is_all(name)) {
            cuda_index(name, where);
        }
        names.push_back(name);
    }
    const auto on_cpu = std::count(names.begin(), names.end(), "cpu");
    const auto undecided = std::count(names.begin(), names.end(), "auto");
    const auto all = static_cast<std::ptrdiff_t>(names.size());
    if (all > 1 && (undecided > 0 || (on_cpu > 0 && on_cpu < all))) {
        reject("devices of different kinds in one job", text, where);
    }
    return names;
}

int cuda_index(const std::string& name, const std::string& where) {
    const auto rest_behind = [&](std::string_view kind) -> std::optional<std::string_view> {
        return name.starts_with(kind) ? std::optional(std::string_view(name).substr(kind.size()))
                                      : std::nullopt;
    };
    std::optional<std::string_view> rest = rest_behind("cuda");
    rest = rest ? rest : rest_behind("gpu");
    if (rest && rest->empty()) {
        return 0;
    }
    const auto index = parse_number<int>(rest ? rest->substr(rest->front() == ':' ? 1 : 0) : "");
    if (!index || *index < 0) {
        throw Error(ErrorKind::Configuration, {.what = "unknown device",
                                               .where = where,
                                               .seen = "'" + name + "'",
                                               .expected = "auto, cpu, cuda, cuda:N, gpu or gpuN"});
    }
    return *index;
}

std::vector<std::string> replica_devices(const std::string& text, const std::string& where) {
    std::vector<std::string> devices;
    for (const auto& name : listed_devices(text, where)) {
        if (!is_all(name)) {
            devices.push_back(name);
            continue;
        }
        const int present = cuda_device_count();
        if (present == 0) {
            throw Error(ErrorKind::Device,
                        {.what = "there is no CUDA device to spread events over",
                         .where = where,
                         .seen = "'" + text + "', no CUDA device on this machine",
                         .expected = "cpu or auto",
                         .hint = "use -A device=cpu, or check the driver with nvidia-smi"});
        }
        for (int index = 0; index < present; ++index) {
            devices.push_back("cuda:" + std::to_string(index));
        }
    }
    return devices;
}

} // namespace spng
