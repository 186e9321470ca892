// SPDX-License-Identifier: Apache-2.0
#pragma once
// Count of ATen operations. Leaf operations that compute or move data count once each. Views, allocations,
// metadata queries and composite parents do not count. An operator of SPNG (namespace spng) counts once; the
// operators that it calls do not.
//
// The schema of an operator gives its role, not a list of names. An operator whose result aliases an input without
// writing it (view, slice, split; also reshape, to and contiguous, which copy only sometimes) counts through its
// children. A leaf is an operator below which nothing was counted. Copies and fills that an operator with a kernel
// makes for itself (x * 2 converts the 2, a sum first clears its result) are not leaves: x * 2 counts as one
// multiplication.
//
// An operator that computes and calls others that compute (sort calls arange) counts as its children. This is the
// cost of a rule without exceptions for single operators.

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <string>

namespace at {
struct RecordFunction;
}

namespace spng::instrument {

enum class OperatorRole {
    Computes,    ///< counts, unless something below it counted
    Transparent, ///< view, allocation, metadata, label: never counts itself
    Own          ///< of namespace spng: counts, and hides the operators below it
};

struct OperatorTraits {
    std::string name; ///< without overload: "aten::add"
    OperatorRole role = OperatorRole::Transparent;
    bool has_kernel = false; ///< computes itself, not only by calls of others
    bool prepares = false;   ///< copies or fills: often a preparation of another operator
};

/// Return the traits of the operator of a callback of at::RecordFunction. The reference stays valid. Thread-safe;
/// a few nanoseconds after the first call.
const OperatorTraits& traits_of(const at::RecordFunction& function);

/// Follows the nesting of operators on one thread and reports those that count.
class LeafCounter {
public:
    struct Leaf {
        const OperatorTraits* traits;
        std::size_t tag;
    };

    /// @param tag  returned with the leaf if the operator becomes one
    void enter(const OperatorTraits& traits, std::size_t tag = 0);

    /// Leave the innermost operator.
    /// @return the leaves that are certain now: often this operator, none, or also copies below it. Valid
    /// until
    ///         the next call; empty when no operator was entered.
    c10::ArrayRef<Leaf> leave();

private:
    struct Frame {
        Leaf leaf;
        bool counted_below;
        bool hidden;                ///< below an own operator
        bool below_kernel;          ///< below an operator with a kernel
        std::size_t first_prepared; ///< where the preparations below it start in m_prepared
    };
    c10::SmallVector<Frame, 16> m_frames;
    c10::SmallVector<Leaf, 8> m_prepared; ///< preparations that count only if their operator is not a leaf
    c10::SmallVector<Leaf, 4> m_certain;
};

} // namespace spng::instrument
