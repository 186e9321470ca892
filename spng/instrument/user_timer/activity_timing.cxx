// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/user_timer/activity_timing.h"

#include "spng/core/error.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/cuda_runtime.h"
#include "spng/instrument/device_timer.h"
#include "spng/instrument/meter/operator_inputs.h"
#include "spng/instrument/operator_traits.h"

#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace spng {
namespace {

std::mutex provider_mutex;
std::shared_ptr<ActivityProvider> the_provider;

std::shared_ptr<ActivityProvider> provider() {
    const std::lock_guard lock(provider_mutex);
    return the_provider;
}

struct Entry {
    std::string name;
    ActivityFilter kind = timing_none;
    c10::Device device{c10::kCPU};
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::unique_ptr<instrument::DeviceSpan> span; ///< on devices
    bool counted = false;                         ///< a leaf, not a part of another operator
};

/// Activities of a timed thread. Exists from the first timing_begin() to the last timing_end().
struct Timeline {
    struct Section {
        ActivityFilter filter;
        std::int64_t begin;
        std::size_t first; ///< entry
    };

    void begins(std::string name, ActivityFilter kind, c10::Device device);
    void ends();

    std::vector<Section> sections;
    std::vector<Entry> entries;
    std::vector<std::size_t> open; ///< entries that have begun
    instrument::LeafCounter leaves;
    at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
};

thread_local std::unique_ptr<Timeline> t_timeline;

/// Return the device that works. A copy between host and device is work of the device.
c10::Device working_device(const std::vector<c10::Device>& inputs) {
    const auto found =
        std::find_if(inputs.begin(), inputs.end(), [](c10::Device device) { return !device.is_cpu(); });
    return found == inputs.end() ? c10::Device(c10::kCPU) : *found;
}

const char* side(c10::Device device) {
    return device.is_cpu() ? "H" : "D";
}

/// Return kind and name of an operator's activity.
std::pair<ActivityFilter, std::string> description(const instrument::OperatorTraits& traits,
                                                   const std::vector<c10::Device>& inputs) {
    if (traits.role == instrument::OperatorRole::Own) {
        return {timing_kernel, traits.name};
    }
    if (traits.prepares) {
        if (traits.name != "aten::copy_" || inputs.size() < 2) {
            return {timing_memset, "memset"};
        }
        return {timing_memcpy, std::string("memcpy ") + side(inputs[1]) + "to" + side(inputs[0])};
    }
    return {timing_kernel_library, traits.name};
}

void Timeline::begins(std::string name, ActivityFilter kind, c10::Device device) {
    open.push_back(entries.size());
    Entry& entry = entries.emplace_back();
    entry.name = std::move(name);
    entry.kind = kind;
    entry.device = device;
    if (kind != timing_none && !device.is_cpu()) {
        try {
            if (!instrument::is_capturing(device)) {
                entry.span = std::make_unique<instrument::DeviceSpan>(device);
                entry.span->begin();
            }
        } catch (const c10::Error&) {
            entry.span.reset(); // a device without events: keep the time of issuing
        }
    }
    entry.begin = instrument::wall_nanoseconds();
}

void Timeline::ends() {
    Entry& entry = entries[open.back()];
    open.pop_back();
    entry.end = instrument::wall_nanoseconds();
    if (entry.span) {
        try {
            entry.span->end();
        } catch (const c10::Error&) {
            entry.span.reset();
        }
    }
}

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction& function) {
    if (!t_timeline) {
        return nullptr; // timing ended inside this operator
    }
    Timeline& timeline = *t_timeline;
    const auto& traits = instrument::traits_of(function);
    timeline.leaves.enter(traits, timeline.entries.size());
    const auto inputs = instrument::devices_of_inputs(function);
    auto [kind, name] = traits.role == instrument::OperatorRole::Transparent
                            ? std::pair<ActivityFilter, std::string>{}
                            : description(traits, inputs);
    timeline.begins(std::move(name), kind, working_device(inputs));
    return nullptr;
}

void operator_ends(const at::RecordFunction&, at::ObserverContext*) {
    if (!t_timeline || t_timeline->open.empty()) {
        return; // timing began or ended inside this operator
    }
    t_timeline->ends();
    for (const auto& leaf : t_timeline->leaves.leave()) {
        t_timeline->entries[leaf.tag].counted = true;
    }
}

/// Return the activities of a section that operators show.
std::vector<TimingResult> timed_operators(const Timeline& timeline, const Timeline::Section& section,
                                          const ActivityProvider* better) {
    std::vector<TimingResult> results;
    for (std::size_t i = section.first; i < timeline.entries.size(); ++i) {
        const Entry& entry = timeline.entries[i];
        if (!entry.counted || (entry.kind & section.filter) == 0 ||
            (better != nullptr && better->covers(entry.device.type()))) {
            continue;
        }
        std::int64_t elapsed = entry.end - entry.begin;
        if (entry.span) {
            entry.span->wait();
            elapsed = entry.span->nanoseconds();
        }
        results.push_back({entry.name, entry.device.str(), entry.kind,
                           1e-6 * static_cast<double>(entry.begin - section.begin),
                           1e-6 * static_cast<double>(elapsed)});
    }
    return results;
}

} // namespace

void set_activity_provider(std::shared_ptr<ActivityProvider> provider) {
    const std::lock_guard lock(provider_mutex);
    the_provider = std::move(provider);
}

void timing_begin(ActivityFilter filter) {
    if (!t_timeline) {
        t_timeline = std::make_unique<Timeline>();
        t_timeline->callback =
            at::addThreadLocalCallback(at::RecordFunctionCallback(&operator_begins, &operator_ends)
                                           .needsInputs(true)
                                           .scopes({at::RecordScope::FUNCTION}));
    }
    t_timeline->sections.push_back({filter, instrument::wall_nanoseconds(), t_timeline->entries.size()});
}

std::vector<TimingResult> timing_end() {
    if (!t_timeline) {
        throw Error(ErrorKind::Usage, {.what = "timing_end without timing_begin",
                                       .where = "timing_end",
                                       .seen = "no timing_begin on this thread",
                                       .expected = "a timing_begin before each timing_end"});
    }
    const std::int64_t until = instrument::wall_nanoseconds();
    const Timeline::Section section = t_timeline->sections.back();
    t_timeline->sections.pop_back();
    std::unique_ptr<Timeline> finished;
    if (t_timeline->sections.empty()) {
        at::removeCallback(t_timeline->callback);
        finished = std::move(t_timeline);
    }
    const Timeline& timeline = finished ? *finished : *t_timeline;
    const auto better = provider();
    auto results = timed_operators(timeline, section, better.get());
    if (better) {
        for (auto& result : better->activities(section.begin, until)) {
            if ((result.kind & section.filter) != 0) {
                results.push_back(std::move(result));
            }
        }
        std::stable_sort(results.begin(), results.end(),
                         [](const auto& left, const auto& right) { return left.begin < right.begin; });
    }
    return results;
}

ActivityScope::ActivityScope(const char* name, ActivityFilter kind, c10::Device device)
    : m_is_timed(t_timeline != nullptr) {
    if (m_is_timed) {
        t_timeline->begins(name, kind, device);
        t_timeline->entries.back().counted = true;
    }
}

ActivityScope::~ActivityScope() {
    if (m_is_timed && t_timeline && !t_timeline->open.empty()) {
        t_timeline->ends();
    }
}

} // namespace spng
