// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/torch_ranges.h"

#include "WireCellSpng/TorchnvTools.h"

#if SPNG_NVTX_IS_ON

#include "spng/instrument/operator_traits.h"

#include <ATen/record_function.h>

#include <mutex>
#include <unordered_map>

namespace spng::instrument {
namespace {

using Label = nvtx::LabelIn<nvtx::TorchDomain>;

/// Registered names, one per operator and overload. Never freed: tools may look names up until the process ends.
const Label& label_of(const OperatorTraits& traits) {
    static std::mutex mutex;
    static auto& labels = *new std::unordered_map<const OperatorTraits*, Label>;
    const std::lock_guard lock(mutex);
    return labels.try_emplace(&traits, traits.name.c_str(), nvtx::Kind::Torch).first->second;
}

/// Marks a range that was begun: the level may change while the operator runs.
struct RangeWasBegun final : at::ObserverContext {};

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction& function) {
    if (!nvtx::is_on(nvtx::Level::Torch)) {
        return nullptr;
    }
    nvtxDomainRangePushEx(nvtx3::domain::get<nvtx::TorchDomain>(),
                          label_of(traits_of(function)).attributes().get());
    return std::make_unique<RangeWasBegun>();
}

void operator_ends(const at::RecordFunction&, at::ObserverContext* context) {
    if (context != nullptr) {
        nvtxDomainRangePop(nvtx3::domain::get<nvtx::TorchDomain>());
    }
}

} // namespace

void annotate_operators() {
    static std::once_flag once;
    std::call_once(once, [] {
        at::addGlobalCallback(
            at::RecordFunctionCallback(&operator_begins, &operator_ends).scopes({at::RecordScope::FUNCTION}));
    });
}

} // namespace spng::instrument

#else

namespace spng::instrument {

void annotate_operators() {}

} // namespace spng::instrument

#endif
