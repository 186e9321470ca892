// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparison of the input that a job makes for a network with the input of the network's training.

#include "spng/core/field.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace spng {

/// The input of a network's training, from its file. Empty members are not known.
struct TrainedInput {
    std::optional<std::string> detector;
    std::string filter_set;
    std::optional<double> tick; ///< [ns]
    /// Filters, as text, by image and plane; empty for a plane that had no part in the training.
    std::map<std::string, std::vector<std::string>> images;
};

/// The filters of a charge image on one plane.
struct ImageFilters {
    std::string image;
    std::int64_t plane = 0;
    std::string filters;
    static constexpr auto fields() {
        using C = ImageFilters;
        return std::make_tuple(field(&C::image, "image", "", required(), "name of the image"),
                               field(&C::plane, "plane", "", at_least(0), "0 U, 1 V, 2 W"),
                               field(&C::filters, "filters", "", required(),
                                     "text that the file of a network repeats if they are equal"));
    }
};

/// The input that a job makes for a network. Empty members are not compared.
struct NetworkInput {
    std::vector<std::string> detectors;
    std::string filter_set;
    double tick = 0;
    std::vector<std::string> features;
    std::vector<ImageFilters> images;
    static constexpr auto fields() {
        using C = NetworkInput;
        return std::make_tuple(
            field(&C::detectors, "detectors", "", any(),
                  "detectors whose networks fit, first the own name; empty: not compared"),
            field(&C::filter_set, "filter_set", "", any(), "name of the filter set, for messages"),
            field(&C::tick, "tick", "ns", at_least(0), "tick of the readout; 0: not compared"),
            field(&C::features, "features", "", any(),
                  "names of the tensors at the input ports; empty: not compared before the first event"),
            field(&C::images, "images", "", any(), "filters of the charge images; empty: not compared"));
    }
};

/// Compare the input of a job with the input of a network's training. Properties that either side does not give are not
/// compared.
/// @param features  of the network
/// @param where     location for errors: the node and the file of the network
/// @throws Error(Model) for features that the job does not make, and for another detector, tick, plane or filter
void require_trained_input(const NetworkInput& job, const std::vector<std::string>& features,
                           const TrainedInput& network, const std::string& where);

/// Return the input as the keys of a network's file: detector, filter_set, tick, images.
nlohmann::json json_of(const NetworkInput& job);

} // namespace spng
