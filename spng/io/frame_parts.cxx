// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_parts.h"

#include "spng/core/error.h"
#include "spng/io/archive/npy_header.h"
#include "spng/io/json_file.h"

#include <ATen/Functions.h>
#include <c10/util/StringUtil.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

namespace spng {

namespace {

[[noreturn]] void reject(const std::string& where, std::string what, std::string seen, std::string expected) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = where,
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = "correct the program that wrote the file"});
}

void require_rank(const at::Tensor& array, std::int64_t rank, const char* axes, const std::string& where) {
    if (array.dim() != rank) {
        reject(where, "the array has the wrong number of axes", "shape " + shape_text(array.sizes().vec()),
               axes);
    }
}

/// Convert any integer tensor to int64.
/// @throws Error(Input) for floats and for values that do not fit
at::Tensor as_int64(const at::Tensor& array, const std::string& where) {
    if (at::isFloatingType(array.scalar_type())) {
        reject(where, "the array must hold integers", c10::toString(array.scalar_type()), "an integer type");
    }
    at::Tensor numbers = array.to(at::kLong);
    if (array.scalar_type() == at::kUInt64 && numbers.numel() > 0 && numbers.min().item<std::int64_t>() < 0) {
        reject(where, "a number is too large", "an integer above 2^63", "an integer of 64 bits with sign");
    }
    return numbers;
}

int as_int(std::int64_t value, const std::string& where) {
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
        reject(where, "a number is too large", std::to_string(value), "an integer of 32 bits");
    }
    return static_cast<int>(value);
}

/// Convert integers to int32.
at::Tensor as_int32(const at::Tensor& array, const std::string& where) {
    const at::Tensor numbers = as_int64(array, where);
    if (numbers.numel() > 0) {
        const auto [smallest, largest] = numbers.aminmax();
        as_int(smallest.item<std::int64_t>(), where);
        as_int(largest.item<std::int64_t>(), where);
    }
    return numbers.to(at::kInt);
}

at::Tensor integers_to_samples(const at::Tensor& array, const std::string& where) {
    if (array.element_size() == 1) {
        return array.to(at::kShort);
    }
    const at::Tensor numbers = as_int64(array, where);
    if (numbers.numel() == 0) {
        return numbers.to(at::kShort);
    }
    const auto [smallest, largest] = numbers.aminmax();
    const auto low = smallest.item<std::int64_t>();
    const auto high = largest.item<std::int64_t>();
    if (low >= std::numeric_limits<std::int16_t>::min() && high <= std::numeric_limits<std::int16_t>::max()) {
        return numbers.to(at::kShort);
    }
    at::Tensor samples = numbers.to(at::kFloat);
    if (!samples.to(at::kDouble).to(at::kLong).equal(numbers)) {
        reject(where, "samples cannot be held in 32-bit floats",
               "integers from " + std::to_string(low) + " to " + std::to_string(high),
               "values that float32 can represent, such as ADC counts");
    }
    return samples;
}

/// Convert numbers of any shape to int16 or float32.
at::Tensor as_sample_type(const at::Tensor& array, const std::string& where) {
    if (array.scalar_type() == at::kShort || array.scalar_type() == at::kFloat) {
        return array;
    }
    if (array.scalar_type() == at::kDouble) {
        const at::Tensor ordered = array.contiguous();
        const auto* sample = ordered.const_data_ptr<double>();
        const auto* const beyond = std::find_if(sample, sample + array.numel(), [](double value) {
            return std::isfinite(value) && std::isinf(static_cast<float>(value));
        });
        if (beyond != sample + array.numel()) {
            reject(where, "samples cannot be held in 32-bit floats", c10::str(*beyond),
                   "values within 3.4e38, or infinite ones");
        }
    }
    if (at::isFloatingType(array.scalar_type())) {
        return array.to(at::kFloat);
    }
    return integers_to_samples(array, where);
}

} // namespace

at::Tensor samples_of(const at::Tensor& array, const std::string& where) {
    require_rank(array, 2, "(channel, tick)", where);
    if (array.size(0) == 0 || array.size(1) == 0) {
        reject(where, array.size(0) == 0 ? "the frame has no channels" : "the frame has no ticks",
               "shape " + shape_text(array.sizes().vec()), "at least one channel and one tick");
    }
    return as_sample_type(array, where);
}

SparseSamples sparse_samples_of(const SparseParts& parts,
                                const std::function<std::string(MemberKind)>& where_of) {
    const std::string runs = where_of(MemberKind::runs), values = where_of(MemberKind::values),
                      shape = where_of(MemberKind::shape);
    require_rank(*parts.runs, 2, "(run, 3): row, begin tick, end tick", runs);
    require_rank(*parts.values, 1, "(sample)", values);
    require_rank(*parts.shape, 1, "(2): channels, ticks", shape);
    const at::Tensor sizes = as_int64(*parts.shape, shape);
    const auto* size = sizes.const_data_ptr<std::int64_t>();
    if (sizes.numel() != 2 || size[0] < 1 || size[1] < 1 || size[0] > max_samples || size[1] > max_samples ||
        size[0] * size[1] > max_samples) {
        reject(shape, "the shape of the frame is impossible",
               sizes.numel() != 2 ? std::to_string(sizes.numel()) + " numbers"
                                  : std::to_string(size[0]) + " x " + std::to_string(size[1]),
               "2 numbers: channels and ticks, at least 1 each, at most " + std::to_string(max_samples) +
                   " samples");
    }
    SparseSamples samples{size[0], size[1], as_int32(*parts.runs, runs),
                          as_sample_type(*parts.values, values)};
    if (const auto fault = fault_of(samples)) {
        reject(fault->in_runs ? runs : values, fault->what, fault->seen, fault->expected);
    }
    return samples;
}

Notes notes_of(const at::Tensor& array, const std::string& where) {
    require_rank(array, 1, "(byte)", where);
    const at::Tensor bytes = array.to(at::kByte);
    const auto* text = bytes.const_data_ptr<std::uint8_t>();
    const auto json = parsed_json(std::string(text, text + bytes.numel()));
    if (!json.is_object() ||
        !std::all_of(json.begin(), json.end(), [](const auto& note) { return note.is_string(); })) {
        reject(where, "the notes cannot be read", std::to_string(bytes.numel()) + " bytes",
               "the bytes of a JSON object of strings");
    }
    return json.get<Notes>();
}

std::vector<int> channels_of(const at::Tensor& array, const std::string& where) {
    require_rank(array, 1, "(channel)", where);
    const at::Tensor numbers = as_int64(array, where);
    const auto* values = numbers.const_data_ptr<std::int64_t>();
    std::vector<int> channels(static_cast<std::size_t>(numbers.numel()));
    std::unordered_set<int> known;
    for (std::size_t row = 0; row < channels.size(); ++row) {
        channels[row] = as_int(values[row], where);
        if (!known.insert(channels[row]).second) {
            reject(where, "a channel occurs twice",
                   "channel " + std::to_string(channels[row]) + " again in row " + std::to_string(row),
                   "a different channel in each row");
        }
    }
    return channels;
}

TickInfo tick_info_of(const at::Tensor& array, const std::string& where) {
    if (array.dim() != 1 || array.numel() != 3) {
        reject(where, "the tick information has the wrong shape", "shape " + shape_text(array.sizes().vec()),
               "3 numbers: start [ns], tick [ns], tbin");
    }
    const at::Tensor numbers = array.to(at::kDouble);
    const auto* values = numbers.const_data_ptr<double>();
    const bool finite = std::all_of(values, values + 3, [](double value) { return std::isfinite(value); });
    const bool whole_tick =
        finite && std::trunc(values[2]) == values[2] && std::abs(values[2]) < 2147483648.0;
    if (!whole_tick || !(values[1] > 0)) {
        reject(where, "the tick information is unusable",
               "start " + std::to_string(values[0]) + ", tick " + std::to_string(values[1]) + ", tbin " +
                   std::to_string(values[2]),
               "a finite start [ns], a tick above 0 [ns], an integer tbin");
    }
    return {values[0], values[1], static_cast<int>(values[2])};
}

at::Tensor summary_of(const at::Tensor& array, const std::string& where) {
    require_rank(array, 1, "(channel)", where);
    return array.to(at::kDouble);
}

std::vector<ChannelRange> channel_ranges_of(const at::Tensor& array, const std::string& where) {
    if (array.dim() != 2 || array.size(1) != 3) {
        reject(where, "the channel mask has the wrong shape", "shape " + shape_text(array.sizes().vec()),
               "(n, 3): channel, begin tick, end tick");
    }
    const at::Tensor numbers = as_int64(array, where);
    const auto* row = numbers.const_data_ptr<std::int64_t>();
    std::vector<ChannelRange> ranges;
    ranges.reserve(static_cast<std::size_t>(numbers.size(0)));
    for (std::int64_t i = 0; i < numbers.size(0); ++i, row += 3) {
        if (row[2] < row[1]) {
            reject(where, "a range of the channel mask ends before it begins",
                   "channel " + std::to_string(row[0]) + ", ticks " + std::to_string(row[1]) + " to " +
                       std::to_string(row[2]),
                   "begin tick not after end tick");
        }
        ranges.push_back({as_int(row[0], where), as_int(row[1], where), as_int(row[2], where)});
    }
    return ranges;
}

} // namespace spng
