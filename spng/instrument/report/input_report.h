// SPDX-License-Identifier: Apache-2.0
#pragma once
// The job's findings in its input: unusable channels, and how the waveforms fit the description of the detector.
// Printed below the timing table and written by --timing.

#include "spng/instrument/report/text_table.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spng::instrument {

/// Channels of one plane, summed over events. A channel counts in at most one of the first five unusable kinds.
struct ChannelCounts {
    std::uint64_t channels = 0;          ///< expected
    std::uint64_t absent = 0;            ///< the frame has no such channel
    std::uint64_t not_finite = 0;        ///< NaN or Inf in a sample
    std::uint64_t out_of_range = 0;      ///< a sample outside the digitiser's range
    std::uint64_t constant = 0;          ///< dead: all samples are equal
    std::uint64_t masked = 0;            ///< for the whole readout
    std::uint64_t partly_masked = 0;     ///< for a part of it
    std::uint64_t saturated = 0;         ///< with saturated samples
    std::uint64_t saturated_samples = 0; ///< in all of these channels

    std::uint64_t unusable() const { return absent + not_finite + out_of_range + constant + masked; }
    ChannelCounts& operator+=(const ChannelCounts& other);
};

/// A property of the waveforms and its prediction from the detector's files.
struct FitQuantity {
    double seen = 0;
    double expected = 0;
    std::uint64_t samples = 0; ///< channels or pulses that it is computed from
    bool fits = true;
};

/// The findings for one plane of one anode.
struct PlaneReport {
    ChannelCounts counts;
    std::optional<FitQuantity> noise;    ///< RMS [ADC]
    std::optional<FitQuantity> polarity; ///< (positive - negative) / (positive + negative) charge of pulses
    std::optional<FitQuantity> lobes;    ///< share of pulses whose negative lobe follows the positive one
    std::optional<FitQuantity> shaping;  ///< shaping time of the electronics [ns]
};

/// Noise of the charge image of a view over that of the training of a network. It is that of all events, or on devices
/// with CUDA graphs that of the events which run without a graph.
struct NetworkNoise {
    std::string node;
    std::string view;
    double lowest = 0, highest = 0;
    double min_tried = 0, max_tried = 0; ///< range in which the network was tried
    std::uint64_t events = 0;

    bool fits() const { return lowest >= min_tried && highest <= max_tried; }
    /// Add other events of the same node and view.
    void join(const NetworkNoise& other);
};

struct InputReport {
    using Plane = std::pair<int, int>; ///< anode ident, plane: 0 U, 1 V, 2 W
    std::uint64_t events = 0;
    std::uint64_t doubtful_events = 0; ///< with a note "warnings"
    std::map<Plane, PlaneReport> planes;
    std::vector<std::string> warnings; ///< as they were logged
    std::vector<NetworkNoise> network_noise;
    std::map<std::string, nlohmann::json> network_inputs; ///< input of each network, by node (NetworkInput)

    /// Add the counts of another report. Keep existing fits and inputs of networks, take missing ones from the other report.
    /// Join the noise of equal nodes and views.
    void merge(const InputReport& other);

    /// Return a table with a row per plane, channels as the mean per event, without empty columns.
    /// Return "" if no event was counted.
    std::string text(std::size_t width = unlimited_width) const;
    nlohmann::json json() const;
};

/// Mix-in for components that inspect the job's input.
class ReportsInput {
public:
    virtual ~ReportsInput() = default;
    virtual InputReport input_report() const = 0;
};

/// "U of anode 0".
std::string plane_name(const InputReport::Plane& plane);

} // namespace spng::instrument
