// SPDX-License-Identifier: Apache-2.0
#pragma once
// The properties that a frame must have for the anodes of a job. All functions throw Error(Input) for a frame without them.

#include "spng/core/tensor_set.h"

#include <cstdint>
#include <map>
#include <string>

namespace spng {

class ViewGroups;

/// Return the waveforms with this tag; without a tag the only ones.
const NamedTensor& waveforms_of(const TensorSet& frame, const std::string& tag);

/// Require the sampling period of the detector [ns], to a relative 1e-6.
/// @param hint  of the error about a similar period
void require_period(double period, double expected, const std::string& hint);

/// Require that all channels belong to the anodes.
/// @param row_of_channel  of the frame
void reject_other_channels(const ViewGroups& groups, const std::map<int, std::int64_t>& row_of_channel);

/// Require at least one channel of every anode.
void require_every_anode(const ViewGroups& groups, const std::map<int, std::int64_t>& row_of_channel);

} // namespace spng
