// SPDX-License-Identifier: Apache-2.0
#pragma once
// Choice of a network's memory layout on a device by measurement, before the first event.

#include "spng/nodes/dnn/model_runner.h"
#include "spng/nodes/dnn/torch_script_model.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace spng {

/// A way to run a network.
struct NetworkForm {
    bool bfloat16 = false; ///< else float32, or TF32 on a device that is allowed to
    NetworkLayout layout = NetworkLayout::as_saved;
};

struct ChosenNetwork {
    std::unique_ptr<const ModelRunner> runner;
    NetworkForm form;
    std::string reason; ///< measured times, for the log
};

using LoadNetwork = std::function<std::unique_ptr<const ModelRunner>(NetworkForm form)>;
/// Returns the time of a forward [ns].
using TimeForward = std::function<std::int64_t(const ModelRunner& runner)>;

/// Return the layout that this process chose before for networks of this key. Replicas then run alike, whichever device
/// gets an event, and only the first one measures. Thread-safe.
std::optional<NetworkLayout> chosen_layout(const std::string& key);

/// Load the network in each layout and keep the faster one: `contiguous` unless `channels_last` takes less than 0.9 of
/// its time, so that equal jobs choose alike. Thread-safe.
/// @param key       for chosen_layout(): model, precision and shape of the images
/// @param bfloat16  whether to run in bfloat16; then float32 is measured too, and `reason` says if it is faster
ChosenNetwork fastest_network(const std::string& key, bool bfloat16, const LoadNetwork& load,
                              const TimeForward& time);

/// Least time of three forwards, each between two events of the device's stream, after a first call that makes handles
/// and plans [ns].
/// @param features  as of ModelRunner::forward, on a CUDA device
std::int64_t forward_time(const ModelRunner& runner, const at::Tensor& features);

} // namespace spng
