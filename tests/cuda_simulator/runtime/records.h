// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records for the observer and for the log, a file with one JSON object per line (CUDA_SIMULATOR_LOG).

#include "tests/cuda_simulator/runtime/state.h"

namespace cuda_simulator {

/// Ids of what the present call of this thread has in its arguments; 0: none.
struct CallTarget {
    std::uint32_t stream = 0, event = 0;
};
CallTarget& call_target();

void record_call(const CallRecord& record);
void record_operation(const OperationRecord& record);
/// Log the traffic of an operator of LibTorch; its kernels are records of their own.
void record_traffic(const Launch& launch);
void record_allocation(const void* address, std::size_t bytes, int device, bool is_page_locked);
void record_release(const void* address, const Block& block);

/// Give a captured operation an id.
std::uint64_t record_captured_node();
/// Return the graph with new ids for its operations: an executable graph has its own nodes.
std::shared_ptr<Graph> clone_with_records(const Graph& graph);

} // namespace cuda_simulator
