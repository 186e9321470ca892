// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/network_choice.h"

#include "spng/core/unit_text.h"
#include "spng/instrument/device_timer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace spng {
namespace {

struct Timed {
    ChosenNetwork network;
    std::int64_t time = 0;
};

/// Return the faster layout of a type.
Timed faster_layout(bool bfloat16, const LoadNetwork& load, const TimeForward& time) {
    Timed best;
    std::string times;
    for (const NetworkLayout layout : {NetworkLayout::contiguous, NetworkLayout::channels_last}) {
        const NetworkForm form{.bfloat16 = bfloat16, .layout = layout};
        auto runner = load(form);
        const std::int64_t own = time(*runner);
        times += (times.empty() ? "" : ", ") + to_string(layout) + " " + format_nanoseconds(own);
        if (best.network.runner == nullptr || own * 10 < best.time * 9) {
            best = {{.runner = std::move(runner), .form = form, .reason = {}}, own};
        }
    }
    best.network.reason = (bfloat16 ? "bfloat16 " : "float32 ") + times;
    return best;
}

/// Layouts by key.
struct Choices {
    std::mutex mutex;
    std::map<std::string, NetworkLayout> layouts;
};
Choices& choices() {
    static Choices of_process;
    return of_process;
}

} // namespace

std::optional<NetworkLayout> chosen_layout(const std::string& key) {
    const std::lock_guard lock(choices().mutex);
    const auto found = choices().layouts.find(key);
    return found == choices().layouts.end() ? std::nullopt : std::optional(found->second);
}

ChosenNetwork fastest_network(const std::string& key, bool bfloat16, const LoadNetwork& load,
                              const TimeForward& time) {
    Timed best = faster_layout(bfloat16, load, time);
    if (bfloat16) {
        const Timed float32 = faster_layout(false, load, time);
        best.network.reason += "; " + float32.network.reason;
        if (float32.time < best.time) {
            best.network.reason += "; float32 would be faster: -A precision=exact";
        }
    }
    const std::lock_guard lock(choices().mutex);
    choices().layouts.insert_or_assign(key, best.network.form.layout);
    return std::move(best.network);
}

std::int64_t forward_time(const ModelRunner& runner, const at::Tensor& features) {
    constexpr int repetitions = 3;
    runner.forward(features);
    instrument::DeviceSpan span(features.device());
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < repetitions; ++i) {
        span.begin();
        runner.forward(features);
        span.end();
        span.wait();
        least = std::min(least, span.nanoseconds());
    }
    return least;
}

} // namespace spng
