#pragma once
// Which ATen operators count as an operation (design.md 6 "Counting"): leaf operations that compute or move
// data count once each; views, allocations, metadata queries and composite parents do not; an own operator
// (namespace spng) counts once, and what it calls inside does not.
//
// What an operator is, is read from its schema, not from a list of views: one whose result aliases an input
// without writing it (view, slice, split, also reshape, to and contiguous, which only sometimes copy) counts
// through its children alone. A leaf is an operator under which nothing was counted. One that computes itself
// and also calls a counted operator (sort copies its input first) therefore counts as its children: the price
// of a rule that needs no knowledge about single operators.

#include <c10/util/SmallVector.h>

#include <string>

namespace at {
struct RecordFunction;
}

namespace spng::instrument {

enum class OperatorRole {
    Computes,    ///< counts, unless something below it counted
    Transparent, ///< view, allocation, metadata, label: never counts itself
    Own          ///< of namespace spng: counts, and hides what is below it
};

struct OperatorTraits {
    std::string name; ///< without overload: "aten::add"
    OperatorRole role;
};

/// The traits of the operator that a callback of at::RecordFunction sees; the reference stays valid for ever.
/// Thread-safe, a few nanoseconds after the first time.
const OperatorTraits& traits_of(const at::RecordFunction& function);

/// Follows the nesting of operators on one thread and says which of them count.
class LeafCounter {
public:
    void enter(const OperatorTraits& traits);

    /// Leave the innermost operator.
    /// @return its traits if it counts, else nullptr; also nullptr when no operator was entered
    const OperatorTraits* leave();

private:
    struct Frame {
        const OperatorTraits* traits;
        bool counted_below;
        bool hidden;
    };
    c10::SmallVector<Frame, 16> m_frames;
};

} // namespace spng::instrument
