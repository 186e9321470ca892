// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/memory_rule.h"

#include "spng/core/bit_words.h"

namespace spng {

PlannedTensor PlannedCall::make(PlannedTensor like, MemoryUse use, std::int64_t bytes_per_sample) const {
    like.block = scratch(use, like.samples() * bytes_per_sample);
    return like;
}

MemoryBlockPtr PlannedCall::scratch(MemoryUse use, std::int64_t bytes) const {
    return std::make_shared<const MemoryBlock>(ledger, use, bytes);
}

void PlannedCall::stage(const PlannedSet& frame, int count) const {
    for (const auto& tensor : frame) {
        ledger.files += count * tensor.block->bytes();
    }
}

PlannedTensor planned_mask(const PlannedCall& call, PlannedTensor like) {
    like.block = call.scratch(MemoryUse::masks, like.views * like.channels * words_for(like.ticks) * 8);
    return like;
}

std::vector<PlannedSet> pass_on(const PlannedCall& call) {
    PlannedSet all;
    for (const auto& set : call.inputs) {
        all.insert(all.end(), set.begin(), set.end());
    }
    return std::vector<PlannedSet>(call.outputs, all);
}

std::shared_ptr<const MemoryRule> passing_memory_rule() {
    MemoryRule rule;
    rule.call = [](const Component&, const PlannedCall& call) { return pass_on(call); };
    return std::make_shared<const MemoryRule>(std::move(rule));
}

} // namespace spng
