// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/meter/operator_counter.h"

#include <ATen/record_function.h>

#include <memory>
#include <utility>

namespace spng::instrument {
namespace {

thread_local OperatorCounter* t_counter = nullptr;

} // namespace

struct OperatorCounter::Callbacks {
    static std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& function) {
        if (t_counter != nullptr) {
            t_counter->m_leaves.enter(traits_of(function));
        }
        return nullptr;
    }

    static void ends(const at::RecordFunction&, at::ObserverContext*) {
        if (t_counter != nullptr) {
            for (const auto& leaf : t_counter->m_leaves.leave()) {
                t_counter->add(*leaf.traits);
            }
        }
    }
};

OperatorCounter::OperatorCounter() : m_outer(std::exchange(t_counter, this)) {
    if (m_outer == nullptr) {
        m_callback =
            at::addThreadLocalCallback(at::RecordFunctionCallback(&Callbacks::begins, &Callbacks::ends)
                                           .scopes({at::RecordScope::FUNCTION}));
    }
}

OperatorCounter::~OperatorCounter() {
    if (m_outer == nullptr) {
        at::removeCallback(m_callback);
    }
    t_counter = m_outer;
}

void OperatorCounter::add(const OperatorTraits& traits) {
    ++m_total;
    for (auto& [known, times] : m_counts) {
        if (known == &traits) {
            ++times;
            return;
        }
    }
    m_counts.emplace_back(&traits, 1);
}

} // namespace spng::instrument
