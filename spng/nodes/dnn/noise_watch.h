#pragma once
// The noise of a job's events beside the noise that its network was trained on.

#include "spng/nodes/dnn/model.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Warn in the log, once for each view, when the noise is outside the range in which the network was tried.
/// Thread-safe.
///
/// Nothing waits for a device: a ratio is copied to the host behind the event's other work, and looked at in
/// a later call that finds the copy complete, at the latest in report().
class NoiseWatch {
public:
    struct View {
        std::string name;
        int plane = 0; ///< index in TrainingNoise::planes
    };

    /// @param logger  name of the log lines
    /// @param model   file of the network
    NoiseWatch(std::string logger, std::string model, TrainingNoise training);

    /// @param ratio  (view), see InputNoise::ratio; NaN is skipped
    /// @param views  as many
    void observe(const at::Tensor& ratio, std::vector<View> views);

    /// After the last event: the smallest and the largest ratio of each view, in the log at level info.
    void report();

    struct Extremes {
        double low = 0;
        double high = 0;
        std::int64_t events = 0;
    };
    /// By name of the view: what has arrived so far.
    std::map<std::string, Extremes> extremes() const;

private:
    struct Arriving {
        at::Tensor ratio; ///< on the host
        std::vector<View> views;
        std::optional<c10::Event> copied; ///< none: the ratio is there
    };
    void take_arrived();
    void take(const Arriving& arrived);

    std::string m_logger;
    std::string m_model;
    TrainingNoise m_training;
    mutable std::mutex m_mutex;
    std::deque<Arriving> m_arriving;
    std::map<std::string, Extremes> m_extremes;
};

} // namespace spng
