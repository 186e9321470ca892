// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convert the arrays of a frame file to the members of a Frame, with checks.

#include "spng/io/archive/npy_header.h"
#include "spng/io/frame.h"
#include "spng/io/frame_member.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Maximum samples of the sparse tags of an event together: they may claim zeros for which the file has no bytes.
constexpr auto max_samples = static_cast<std::int64_t>(largest_array_bytes / sizeof(float));

/// The note that says from where the ticks of the masks count, in files with notes and a tbin other than 0. Without it
/// such a file is of an earlier version, which counted from the first sample (docs/frame-files.md).
constexpr const char* mask_ticks_note = "mask_ticks";

/// Content of tickinfo_<tag>_<ident>.
struct TickInfo {
    double start_ns = 0;
    double tick_ns = 0;
    int first_tick = 0;
};

// Every function throws Error(Input) with `where` (file and member) for an invalid array.

/// Convert samples (channel, tick), at least one of each, to int16 or float32. Values are preserved; float64
/// is rounded.
at::Tensor samples_of(const at::Tensor& array, const std::string& where);

/// The members of sparse samples, as they are read.
struct SparseParts {
    std::optional<at::Tensor> runs, values, shape;
};

/// Convert the members of sparse samples: (run, 3) integers, (sample) as samples_of(), (2) integers, at least one
/// channel and one tick; see SparseSamples for the order of the runs.
/// @param where_of  gives file and member of runs, values and shape
SparseSamples sparse_samples_of(const SparseParts& parts,
                                const std::function<std::string(MemberKind)>& where_of);

/// Convert notes (byte): a JSON object of strings.
Notes notes_of(const at::Tensor& array, const std::string& where);

/// Convert channel ids (channel): integers, all different.
std::vector<int> channels_of(const at::Tensor& array, const std::string& where);

/// Convert tick information (3): a finite start [ns], a tick above 0 [ns], an integral tbin.
TickInfo tick_info_of(const at::Tensor& array, const std::string& where);

/// Convert a summary (channel) to float64.
at::Tensor summary_of(const at::Tensor& array, const std::string& where);

/// Convert a channel mask (n, 3): integers of 32 bits channel, begin tick, end tick, with end not before begin.
std::vector<ChannelRange> channel_ranges_of(const at::Tensor& array, const std::string& where);

} // namespace spng
