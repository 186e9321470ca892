// SPDX-License-Identifier: Apache-2.0
#pragma once
// The range of an event in flight, from the first call of a source to the end of its last node: `event` in
// the domain spng.sched with the event index as payload. Events overlap and may end on another thread, so it
// is a start/end range. The class is empty without NVTX.

#include "WireCellSpng/TorchnvTools.h"

#include <cstdint>

namespace spng::instrument {

#if SPNG_NVTX_IS_ON

class EventRange {
public:
    explicit EventRange(std::uint64_t event) : m_range(begin(event)) {}
    ~EventRange() { nvtx::end<nvtx::SchedulingDomain>(m_range); }
    EventRange(const EventRange&) = delete;
    EventRange& operator=(const EventRange&) = delete;

private:
    static std::uint64_t begin(std::uint64_t event) {
        static const nvtx::LabelIn<nvtx::SchedulingDomain> label("event", nvtx::Kind::Event);
        return nvtx::is_on(nvtx::Level::Nodes) ? nvtx::start<nvtx::SchedulingDomain>(label.attributes(event))
                                               : 0;
    }

    const std::uint64_t m_range;
};

#else

class EventRange {
public:
    explicit EventRange(std::uint64_t) {}
};

#endif

} // namespace spng::instrument
