// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/meter/operation_log.h"

#include "spng/core/error.h"
#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/meter/operator_inputs.h"
#include "spng/instrument/operator_traits.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

namespace spng::instrument {

struct OperationLog::State {
    void begins(const at::RecordFunction& function);
    void ends();

    std::vector<OperationRecord> records;
    std::map<std::thread::id, LeafCounter> leaves; ///< tagged with positions in records
    at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
};

namespace {

std::mutex active_mutex; // guards the log and its content: operators of all threads write to it
OperationLog::State* active = nullptr;

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction& function) {
    const std::lock_guard lock(active_mutex);
    if (active != nullptr) {
        active->begins(function);
    }
    return nullptr;
}

void operator_ends(const at::RecordFunction&, at::ObserverContext*) {
    const std::lock_guard lock(active_mutex);
    if (active != nullptr) {
        active->ends();
    }
}

} // namespace

void OperationLog::State::begins(const at::RecordFunction& function) {
    const OperatorTraits& traits = traits_of(function);
    const CurrentCall call = current_call();
    leaves[std::this_thread::get_id()].enter(traits, records.size());
    records.push_back({call.node == nullptr ? "" : call.node->text(),
                       call.node == nullptr ? "" : call.node->kind, call.event, traits.name, false,
                       devices_of_inputs(function)});
}

void OperationLog::State::ends() {
    for (const auto& leaf : leaves[std::this_thread::get_id()].leave()) {
        records[leaf.tag].counted = true;
    }
}

bool is_hidden_synchronisation(const OperationRecord& record) {
    static constexpr std::array<std::string_view, 11> names = {"aten::_local_scalar_dense",
                                                               "aten::equal",
                                                               "aten::is_nonzero",
                                                               "aten::item",
                                                               "aten::nonzero",
                                                               "aten::_unique",
                                                               "aten::_unique2",
                                                               "aten::masked_select",
                                                               "aten::unique_consecutive",
                                                               "aten::unique_dim",
                                                               "aten::bincount"};
    if (std::find(names.begin(), names.end(), record.name) != names.end()) {
        return true;
    }
    return record.name == "aten::copy_" && record.inputs.size() == 2 && record.inputs[0].is_cpu() &&
           !record.inputs[1].is_cpu();
}

OperationLog::OperationLog() : m_state(std::make_unique<State>()) {
    {
        const std::lock_guard lock(active_mutex);
        if (active != nullptr) {
            throw Error(ErrorKind::Internal, {.what = "two operation logs at the same time",
                                              .expected = "one OperationLog in a process at a time"});
        }
        active = m_state.get();
    }
    m_state->callback = at::addGlobalCallback(at::RecordFunctionCallback(&operator_begins, &operator_ends)
                                                  .needsInputs(true)
                                                  .scopes({at::RecordScope::FUNCTION}));
}

OperationLog::~OperationLog() {
    at::removeCallback(m_state->callback);
    const std::lock_guard lock(active_mutex);
    active = nullptr;
}

std::vector<OperationRecord> OperationLog::records() const {
    const std::lock_guard lock(active_mutex);
    return m_state->records;
}

} // namespace spng::instrument
