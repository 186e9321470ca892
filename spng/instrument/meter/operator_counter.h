// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of the ATen leaf operations (operator_traits.h) of a node call.

#include "spng/instrument/operator_traits.h"

#include <c10/util/SmallVector.h>

#include <cstdint>
#include <utility>

namespace spng::instrument {

/// Counts the leaf operations of this thread. Of nested counters the innermost counts.
class OperatorCounter {
public:
    OperatorCounter();
    ~OperatorCounter();
    OperatorCounter(const OperatorCounter&) = delete;
    OperatorCounter& operator=(const OperatorCounter&) = delete;

    using Counts = c10::SmallVector<std::pair<const OperatorTraits*, std::uint64_t>, 16>;
    const Counts& counts() const { return m_counts; }
    std::uint64_t total() const { return m_total; }

private:
    struct Callbacks;
    void add(const OperatorTraits& traits);

    OperatorCounter* const m_outer;
    std::uint64_t m_callback = 0; ///< of the outermost counter, for this thread only
    LeafCounter m_leaves;
    Counts m_counts;
    std::uint64_t m_total = 0;
};

} // namespace spng::instrument
