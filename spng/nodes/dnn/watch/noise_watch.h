// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares the noise of the events with the noise of the network's training.

#include "spng/core/notes.h"
#include "spng/instrument/report/input_report.h"
#include "spng/nodes/dnn/model.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace spng {

/// Warn once per view, and in the notes of each such event, if the noise is outside the range in which the network was tried.
/// Thread-safe.
class NoiseWatch {
public:
    struct View {
        std::string name;
        int plane = 0; ///< index in TrainingNoise::planes
    };

    /// @param logger  name of the node, for log lines
    /// @param model   file of the network
    /// @param image   the charge image whose noise is compared, in TrainingNoise::planes
    NoiseWatch(std::string logger, std::string model, std::string image, TrainingNoise training);

    /// Add the noise of an event.
    /// @param ratio  (view) float32 or float64 on the host, see InputNoise::ratio; NaN is skipped
    /// @param views  one per element of `ratio`
    /// @return the note "network_noise" about the event, without views whose ratio is NaN, and "warnings"
    /// @throws Error(Input) in place of a warning if is_strict()
    Notes observe(const at::Tensor& ratio, const std::vector<View>& views);

    /// Log the lowest and highest ratio of each view at level info. Call after the last event.
    void report();

    /// Return what was logged.
    std::vector<std::string> warnings() const;

    /// Return the extremes of each view, in order of their names.
    std::vector<instrument::NetworkNoise> network_noise() const;

private:
    void add(const View& view, double ratio, Notes& notes);
    /// Return the range in which the network was tried, for a message.
    std::string tried() const;

    std::string m_logger;
    std::string m_model;
    std::string m_image;
    TrainingNoise m_training;
    mutable std::mutex m_mutex;
    std::map<std::string, instrument::NetworkNoise> m_noise; ///< by view
    std::vector<std::string> m_warnings;
};

} // namespace spng
