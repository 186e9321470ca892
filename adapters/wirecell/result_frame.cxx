// SPDX-License-Identifier: Apache-2.0
#include "adapters/wirecell/result_frame.h"

#include <memory>
#include <utility>

namespace spng::wirecell {
namespace {

class Trace : public WireCell::ITrace {
public:
    explicit Trace(ResultTrace trace) : m_trace(std::move(trace)) {}
    int channel() const override { return m_trace.channel; }
    int tbin() const override { return m_trace.first_tick; }
    const ChargeSequence& charge() const override { return m_trace.samples; }

private:
    ResultTrace m_trace;
};

} // namespace

ResultFrame::ResultFrame(const WireCell::IFrame& input, ResultTraces result, const std::string& frame_tag,
                         WireCell::Waveform::ChannelMaskMap masks)
    : m_ident(input.ident()), m_time(result.traces.empty() ? input.time() : result.start_ns),
      m_tick(result.traces.empty() ? input.tick() : result.tick_ns), m_masks(std::move(masks)) {
    if (!frame_tag.empty()) {
        m_frame_tags.push_back(frame_tag);
    }
    auto traces = std::make_shared<WireCell::ITrace::vector>();
    traces->reserve(result.traces.size());
    for (ResultTrace& trace : result.traces) {
        traces->push_back(std::make_shared<Trace>(std::move(trace)));
    }
    m_traces = std::move(traces);
    for (ResultTag& tag : result.tags) {
        m_trace_tags.push_back(tag.tag);
        m_tags.emplace(m_trace_tags.back(), std::move(tag));
    }
}

const ResultTag& ResultFrame::find(const tag_t& tag) const {
    static const ResultTag none;
    const auto found = m_tags.find(tag);
    return found == m_tags.end() ? none : found->second;
}

const WireCell::IFrame::trace_list_t& ResultFrame::tagged_traces(const tag_t& tag) const {
    return find(tag).traces;
}

const WireCell::IFrame::trace_summary_t& ResultFrame::trace_summary(const tag_t& tag) const {
    return find(tag).summary;
}

} // namespace spng::wirecell
