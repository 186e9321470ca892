// SPDX-License-Identifier: Apache-2.0
#pragma once
// A frame of the Wire-Cell Toolkit that holds a result. The toolkit's own SimpleFrame is in its library aux, which the plugin
// would have to link for two small classes.

#include "adapters/wirecell/result_traces.h"

#include "WireCellIface/IFrame.h"

#include <map>
#include <string>

namespace spng::wirecell {

class ResultFrame : public WireCell::IFrame {
public:
    /// Make a frame with the ident of the input, and the times of the result, or of the input if the result has no traces.
    /// @param frame_tag  may be empty
    ResultFrame(const WireCell::IFrame& input, ResultTraces result, const std::string& frame_tag,
                WireCell::Waveform::ChannelMaskMap masks);

    const tag_list_t& frame_tags() const override { return m_frame_tags; }
    const tag_list_t& trace_tags() const override { return m_trace_tags; }
    const trace_list_t& tagged_traces(const tag_t& tag) const override;
    const trace_summary_t& trace_summary(const tag_t& tag) const override;
    WireCell::ITrace::shared_vector traces() const override { return m_traces; }
    WireCell::Waveform::ChannelMaskMap masks() const override { return m_masks; }
    int ident() const override { return m_ident; }
    double time() const override { return m_time; }
    double tick() const override { return m_tick; }

private:
    /// Return the entry of a tag, or an empty one.
    const ResultTag& find(const tag_t& tag) const;

    int m_ident;
    double m_time, m_tick;
    tag_list_t m_frame_tags, m_trace_tags;
    std::map<tag_t, ResultTag> m_tags;
    WireCell::ITrace::shared_vector m_traces;
    WireCell::Waveform::ChannelMaskMap m_masks;
};

} // namespace spng::wirecell
