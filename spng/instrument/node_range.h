// SPDX-License-Identifier: Apache-2.0
#pragma once
// The range of a whole node call: `Type:instance` with the node's kind as category and colour and the event
// index as payload. The classes are empty without NVTX.

#include "WireCellSpng/TorchnvTools.h"

#include <cstdint>
#include <string>

namespace spng::instrument {

#if SPNG_NVTX_IS_ON

/// Label of a node, registered at construction so that a call only passes a handle.
class NodeLabel {
public:
    NodeLabel(const std::string& name, const std::string& kind)
        : m_label(name.c_str(), nvtx::kind_of(kind)) {}

private:
    friend class NodeRange;
    nvtx::LabelIn<nvtx::Domain> m_label;
};

class NodeRange {
public:
    NodeRange(const NodeLabel& label, std::uint64_t event)
        : m_range(nvtx::is_on(nvtx::Level::Nodes) ? Range{label.m_label.attributes(event)} : Range{}) {}
    /// Range outside of all events, without payload.
    explicit NodeRange(const NodeLabel& label)
        : m_range(nvtx::is_on(nvtx::Level::Nodes) ? Range{label.m_label.attributes()} : Range{}) {}

private:
    using Range = nvtx::ScopedRangeIn<nvtx::Domain>;
    Range m_range;
};

#else

class NodeLabel {
public:
    NodeLabel(const std::string&, const std::string&) {}
};

class NodeRange {
public:
    NodeRange(const NodeLabel&, std::uint64_t) {}
    explicit NodeRange(const NodeLabel&) {}
};

#endif

} // namespace spng::instrument
