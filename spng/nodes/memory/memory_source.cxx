// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/memory/memory_source.h"

#include "spng/core/error.h"
#include "spng/graph/memory_rule.h"

namespace spng {
namespace {

/// A frame of ADC samples, two bytes each, in the memory of the caller.
std::vector<PlannedSet> plan_memory(const NoConfig&, PlannedCall& call) {
    std::int64_t samples = 0;
    for (const auto& group : call.groups) {
        samples += group.samples();
    }
    return std::vector<PlannedSet>(call.outputs,
                                   PlannedSet{call.make({1, samples, 1, nullptr}, MemoryUse::input, 2)});
}

const Registration<MemorySource> registration{{.type = "SPNGMemorySource",
                                               .kind = "source",
                                               .outputs = {"set"},
                                               .concurrency = Concurrency::serial,
                                               .text = "takes events from the program that owns the job",
                                               .memory = memory_rule<MemorySource>({.call = plan_memory})}};

} // namespace

void MemorySource::prepare_node(Environment&) {
    if (m_queue == nullptr) {
        throw Error(ErrorKind::Configuration,
                    {.what = "the source has no program that gives it events",
                     .where = name().text(),
                     .seen = "a job of wire-cell",
                     .expected = "a job of spng::Pipeline (WireCellSpng/Pipeline.h, or Python's spng)",
                     .hint = "use FrameFileSource to read a file"});
    }
}

Ports MemorySource::process(const Ports&) {
    return {m_queue->pop()};
}

} // namespace spng
