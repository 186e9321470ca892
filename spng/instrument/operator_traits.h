#pragma once
// Which ATen operators count as an operation: leaf operations that compute or move
// data count once each; views, allocations, metadata queries and composite parents do not; an own operator
// (namespace spng) counts once, and what it calls inside does not.
//
// What an operator is, is read from its schema, not from a list of views: one whose result aliases an input
// without writing it (view, slice, split, also reshape, to and contiguous, which only sometimes copy) counts
// through its children alone. A leaf is an operator under which nothing was counted. Copies and fills that an
// operator with a kernel of its own makes for itself (x * 2 converts the 2, a sum first clears its result)
// are not leaves of their own, so that x * 2 counts as one multiplication and not as one copy.
//
// An operator that computes and also calls others that do (sort calls arange) counts as its children: the
// price of a rule that needs no knowledge about single operators.

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
    Own          ///< of namespace spng: counts, and hides what is below it
};

struct OperatorTraits {
    std::string name; ///< without overload: "aten::add"
    OperatorRole role = OperatorRole::Transparent;
    bool has_kernel = false; ///< computes itself, rather than only calling others
    bool prepares = false;   ///< copies or fills: often only a preparation of what another operator does
};

/// The traits of the operator that a callback of at::RecordFunction sees; the reference stays valid for ever.
/// Thread-safe, a few nanoseconds after the first time.
const OperatorTraits& traits_of(const at::RecordFunction& function);

/// Follows the nesting of operators on one thread and says which of them count.
class LeafCounter {
public:
    struct Leaf {
        const OperatorTraits* traits;
        std::size_t tag;
    };

    /// @param tag  given back with the leaf, if it becomes one
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
    c10::SmallVector<Leaf, 8> m_prepared; ///< preparations that count only if their operator is no leaf
    c10::SmallVector<Leaf, 4> m_certain;
};

} // namespace spng::instrument
