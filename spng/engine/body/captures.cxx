// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/captures.h"

#include "spng/device/lost_device.h"
#include "spng/device/memory/device_memory.h"
#include "spng/device/memory/out_of_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace spng {
namespace {

constexpr const char* logger = "cuda_graph";

} // namespace

Captures::Shape& Captures::shape_of(const std::string& key) {
    const bool is_new = !m_shapes.contains(key);
    if (is_new && m_shapes.size() >= max_shapes) {
        const auto is_droppable = [this](const Shape& shape) {
            // A new shape would be rejected again.
            const bool is_rejected = shape.slots < m_limits.slots && m_requests < shape.retry_at;
            return !is_rejected && std::all_of(shape.captures.begin(), shape.captures.end(),
                                               [](const auto& capture) { return is_idle(*capture); });
        };
        auto oldest = m_shapes.end();
        for (auto it = m_shapes.begin(); it != m_shapes.end(); ++it) {
            const bool is_older = oldest == m_shapes.end() || it->second.last_use < oldest->second.last_use;
            oldest = is_older && is_droppable(it->second) ? it : oldest;
        }
        if (oldest != m_shapes.end()) {
            m_shapes.erase(oldest);
        }
    }
    Shape& shape = m_shapes.try_emplace(key, Shape{.slots = m_limits.slots}).first->second;
    shape.use_before = shape.last_use;
    shape.last_use = ++m_requests;
    return shape;
}

std::size_t Captures::count() const {
    std::size_t count = 0;
    for (const auto& [key, shape] : m_shapes) {
        count += shape.captures.size();
    }
    return count;
}

bool Captures::make_room(const Shape& shape) {
    const std::size_t most =
        m_requests < m_pause_ends ? std::min(m_fitting, m_limits.captures) : m_limits.captures;
    if (count() < most) {
        return true;
    }
    // Shapes that alternate do not take the memory from each other: a capture goes if the new shape was asked for
    // twice since.
    return most > 0 && shape.captures.empty() && drop_oldest(shape.use_before);
}

bool Captures::drop_oldest(std::optional<std::uint64_t> idle_before) {
    Shape* its_shape = nullptr;
    std::size_t oldest = 0;
    for (auto& [key, shape] : m_shapes) {
        for (std::size_t i = 0; i < shape.captures.size(); ++i) {
            const Capture& capture = *shape.captures[i];
            const bool may_go =
                idle_before ? is_idle(capture) && capture.last_request < *idle_before : !capture.is_taken;
            if (may_go &&
                (its_shape == nullptr || capture.last_request < its_shape->captures[oldest]->last_request)) {
                its_shape = &shape;
                oldest = i;
            }
        }
    }
    if (its_shape == nullptr) {
        return false;
    }
    const auto position = its_shape->captures.begin() + static_cast<std::ptrdiff_t>(oldest);
    if ((*position)->last_use) {
        (*position)->last_use->synchronize();
    }
    its_shape->captures.erase(position);
    return true;
}

void Captures::pause() {
    m_fitting = count();
    if (m_requests >= m_pause_ends) { // not the same shortage again
        m_pause = m_pauses.next();
    }
    m_pause_ends = m_requests + m_pause;
    log::line(logger, m_level, [&] {
        return "out of memory: " + std::to_string(m_fitting) +
               (m_fitting == 1 ? " CUDA graph is kept" : " CUDA graphs are kept") +
               ", and no more are made for " + std::to_string(m_pause) + " events";
    });
}

bool Captures::make_memory(std::uint64_t tried_before) {
    const std::lock_guard lock(m_mutex);
    if (drop_oldest()) {
        pause();
        return true;
    }
    return m_tried != tried_before;
}

void Captures::release_memory(bool all) {
    const std::lock_guard lock(m_mutex);
    if (!drop_oldest()) {
        return;
    }
    while (all && drop_oldest()) {
    }
    pause();
}

bool Captures::is_idle(const Capture& capture) {
    // A thread that has taken the capture may be writing last_use.
    return !capture.is_taken && (!capture.last_use || capture.last_use->query());
}

Capture* Captures::free_capture(Shape& shape, bool idle_only) {
    for (const auto& capture : shape.captures) {
        if (idle_only ? is_idle(*capture) : !capture->is_taken) {
            capture->is_taken = true;
            return capture.get();
        }
    }
    return nullptr;
}

Capture* Captures::take(const std::string& key, const Make& make) {
    // Held during a capture, so that there is one at a time.
    const std::lock_guard lock(m_mutex);
    Shape& shape = shape_of(key);
    if (!shape.was_called) {
        return nullptr;
    }
    if (m_requests >= shape.retry_at) {
        shape.slots = m_limits.slots;
    }
    Capture* taken = free_capture(shape, true);
    if (taken == nullptr && shape.captures.size() < shape.slots && make_room(shape)) {
        taken = try_capture(shape, make);
    }
    if (taken == nullptr) {
        taken = free_capture(shape, false);
    }
    if (taken != nullptr) {
        taken->last_request = m_requests;
    }
    return taken;
}

Capture* Captures::try_capture(Shape& shape, const Make& make) {
    bool is_ready = false;
    bool is_cache_empty = false; // since the call that makes the thread ready
    for (int tries = 1;; ++tries) {
        try {
            shape.captures.push_back(make(is_ready));
            ++m_tried;
            log::info(logger, [&] {
                return "captured the nodes of an event, copy " + std::to_string(shape.captures.size()) +
                       " of at most " + std::to_string(shape.slots);
            });
            return shape.captures.back().get();
        } catch (const std::exception& error) {
            ++m_tried;
            if (!handles_out_of_memory()) {
                if (loss_of(m_device)) {
                    throw;
                }
                reject_for_a_while(shape, error);
                return nullptr;
            }
        }
        if (is_cache_empty && (!shape.captures.empty() || !drop_oldest())) {
            pause();
            return nullptr;
        }
        is_cache_empty = is_ready || tries > 1;
        release_cached_memory(m_device);
    }
}

void Captures::reject_for_a_while(Shape& shape, const std::exception& error) const {
    const bool is_final = dynamic_cast<const UnusableOutputs*>(&error) != nullptr;
    shape.slots = shape.captures.size();
    const bool is_first = shape.pauses.is_fresh();
    const std::uint64_t pause = shape.pauses.next();
    shape.retry_at = is_final ? std::numeric_limits<std::uint64_t>::max() : m_requests + pause;
    log::line(logger, is_first ? m_level : log::Level::info, [&] {
        return std::string(shape.slots == 0 ? "events of this shape have no CUDA graph"
                                            : "this shape has one CUDA graph") +
               ", since a capture failed" +
               (is_final ? "" : "; it is tried again after " + std::to_string(pause) + " events") + ": " +
               without_trace(error.what());
    });
}

void Captures::note_call(const std::string& key) {
    const std::lock_guard lock(m_mutex);
    if (const auto shape = m_shapes.find(key); shape != m_shapes.end()) {
        shape->second.was_called = true;
    }
}

void Captures::give_back(Capture& capture) {
    const std::lock_guard lock(m_mutex);
    capture.is_taken = false;
}

} // namespace spng
