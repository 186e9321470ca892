// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/memory/memory_sink.h"

#include "spng/graph/memory_rule.h"

namespace spng {
namespace {

const Registration<MemorySink> registration{{.type = "SPNGMemorySink",
                                             .kind = "sink",
                                             .inputs = {"set"},
                                             .concurrency = Concurrency::serial,
                                             .text = "returns results to the program that owns the job",
                                             .memory = passing_memory_rule()}};

} // namespace

Ports MemorySink::process(const Ports& inputs) {
    if (m_queue != nullptr) {
        m_queue->deliver(name().instance, inputs[0]);
    }
    return {};
}

} // namespace spng
