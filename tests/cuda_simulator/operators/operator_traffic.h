// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes of device memory that an operator of LibTorch reads and writes.

#include "tests/cuda_simulator/simulator.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/ArrayRef.h>

namespace cuda_simulator {

/// Return the bytes of the CUDA tensors that an operator reads and writes, each element once. Of a tensor that is
/// indexed only as many elements count as there are indices. Passes over temporary memory inside an operator, for
/// example of a sort, are not known.
Traffic traffic_of(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                   c10::ArrayRef<c10::IValue> results);

/// Queue the traffic of a call in the current stream of its device.
void queue_traffic(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                   c10::ArrayRef<c10::IValue> results);

} // namespace cuda_simulator
