// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/input/network_input.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/core/unit_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace spng {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void reject(const std::string& what, const std::string& where, const std::string& seen,
                         const std::string& expected, const std::string& hint) {
    throw Error(ErrorKind::Model,
                {.what = what, .where = where, .seen = seen, .expected = expected, .hint = hint});
}

void require_features(const NetworkInput& job, const std::vector<std::string>& features,
                      const std::string& where) {
    std::vector<std::string> absent;
    std::copy_if(features.begin(), features.end(), std::back_inserter(absent),
                 [&](const std::string& name) { return !contains(job.features, name); });
    if (!job.features.empty() && !absent.empty()) {
        reject("the network takes features that this job does not make", where, joined(absent),
               "features among " + joined(job.features), "use another network, or -A model=none");
    }
}

void require_detector(const NetworkInput& job, const TrainedInput& network, const std::string& where) {
    if (network.detector && !job.detectors.empty() && !contains(job.detectors, *network.detector)) {
        reject(
            "the network was trained for another detector", where, "a network for " + *network.detector,
            "one for " + joined(job.detectors, " or "),
            "use -A model=none or a network trained for this detector; a detector description names others "
            "that fit in network_detectors");
    }
}

void require_tick(const NetworkInput& job, const TrainedInput& network, const std::string& where) {
    if (network.tick && job.tick > 0 && std::abs(*network.tick - job.tick) > 1e-6 * job.tick) {
        reject("the network was trained with another tick", where,
               "a network for ticks of " + format_fixed(*network.tick, 1) + " ns",
               "one for ticks of " + format_fixed(job.tick, 1) + " ns",
               "use -A model=none or a network trained for this detector");
    }
}

void require_filters(const NetworkInput& job, const ImageFilters& image, const TrainedInput& network,
                     const std::string& where) {
    const auto found = network.images.find(image.image);
    if (found == network.images.end()) {
        return;
    }
    const std::vector<std::string>& trained = found->second;
    const std::string name = image.image + " of plane " + std::to_string(image.plane);
    const auto plane = static_cast<std::size_t>(image.plane);
    if (plane >= trained.size() || trained[plane].empty()) {
        reject(
            "the network was not trained on this plane", where, name, "a plane in images of its file",
            "keep the group out of the network (use_model: false in the detector's description), or use -A "
            "model=none");
    }
    if (trained[plane] != image.filters) {
        const std::string set = network.filter_set.empty() || network.filter_set == job.filter_set
                                    ? "those filters"
                                    : "-A filters=" + network.filter_set;
        reject("the network was trained on images with other filters", where,
               name + (job.filter_set.empty() ? "" : ", filter set " + job.filter_set) + ": " + image.filters,
               trained[plane], "use " + set + ", another network, or -A model=none");
    }
}

} // namespace

void require_trained_input(const NetworkInput& job, const std::vector<std::string>& features,
                           const TrainedInput& network, const std::string& where) {
    require_features(job, features, where);
    require_detector(job, network, where);
    require_tick(job, network, where);
    for (const ImageFilters& image : job.images) {
        if (contains(features, image.image)) {
            require_filters(job, image, network, where);
        }
    }
}

nlohmann::json json_of(const NetworkInput& job) {
    nlohmann::json images = nlohmann::json::object();
    for (const ImageFilters& image : job.images) {
        std::vector<std::string> planes = images.value(image.image, std::vector<std::string>{});
        planes.resize(std::max(planes.size(), static_cast<std::size_t>(image.plane) + 1));
        planes[static_cast<std::size_t>(image.plane)] = image.filters;
        images[image.image] = planes;
    }
    return {{"detector", job.detectors.empty() ? "" : job.detectors.front()},
            {"filter_set", job.filter_set},
            {"tick", job.tick},
            {"images", std::move(images)}};
}

} // namespace spng
