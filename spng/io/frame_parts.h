#pragma once
// From the arrays of a frame file to the fields of a Frame, each with its checks.

#include "spng/io/frame.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

/// What tickinfo_<tag>_<ident> holds.
struct TickInfo {
    double start_ns = 0;
    double tick_ns = 0;
    int first_tick = 0;
};

// Every function throws Error(Input) with `where` (file and member) for an array that does not fit.

/// (channel, tick) with at least one of each -> int16 or float32, values preserved (float64 is rounded).
at::Tensor samples_of(const at::Tensor& array, const std::string& where);

/// (channel) integers, no two alike.
std::vector<int> channels_of(const at::Tensor& array, const std::string& where);

/// (3) finite numbers: start [ns], tick [ns] above 0, tbin, a whole number.
TickInfo tick_info_of(const at::Tensor& array, const std::string& where);

/// (channel) numbers -> float64.
at::Tensor summary_of(const at::Tensor& array, const std::string& where);

/// (n, 3) integers: channel, begin tick, end tick with end not before begin.
std::vector<ChannelRange> channel_ranges_of(const at::Tensor& array, const std::string& where);

} // namespace spng
