// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranges of ATen's operators: domain spng.torch, named like the operator ("aten::add"), while the level is 4.
// LibTorch's own NVTX mode adds a number to each name, which makes every range a kind of its own, and needs a
// GPU.

namespace spng::instrument {

/// Follow the operators of all threads from now on; later calls do nothing. Costs tens of nanoseconds per
/// operator even where the level has sunk again. Does nothing in a build without NVTX.
void annotate_operators();

} // namespace spng::instrument
