// SPDX-License-Identifier: Apache-2.0
#include "spng/core/sparse_samples.h"

#include "spng/core/error.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace spng {
namespace {

struct Run {
    std::int32_t row, begin, end;
    std::int64_t size() const { return end - begin; }
};
static_assert(sizeof(Run) == 3 * sizeof(std::int32_t)); // a row of SparseSamples::runs

constexpr std::int64_t rows_of_block = 32; // of the parallel loops

const Run* runs_of(const SparseSamples& samples) {
    return reinterpret_cast<const Run*>(samples.runs.const_data_ptr<std::int32_t>());
}

at::Tensor tensor_of(const std::vector<Run>& runs) {
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(runs.size()), 3}, at::kInt);
    if (!runs.empty()) {
        std::memcpy(tensor.mutable_data_ptr(), runs.data(), runs.size() * sizeof(Run));
    }
    return tensor;
}

bool is_sample_type(at::ScalarType type) {
    return type == at::kFloat || type == at::kShort;
}

/// Return the index of the first item from `at` on that is not 0, or `end`. Groups of items let the compiler use
/// vector registers.
template <class Bits>
std::int64_t skip_zeros(const Bits* items, std::int64_t at, std::int64_t end) {
    constexpr std::int64_t group = 64 / sizeof(Bits);
    for (; at + group <= end; at += group) {
        Bits any = 0;
        for (std::int64_t i = 0; i < group; ++i) {
            any |= items[at + i];
        }
        if (any != 0) {
            break;
        }
    }
    while (at < end && items[at] == 0) {
        ++at;
    }
    return at;
}

/// Append the runs of items that are not 0. `items` are those of the ticks [tick, tick + count) of the row.
template <class Bits>
void append_runs(const Bits* items, std::int64_t count, std::int32_t row, std::int32_t tick,
                 std::vector<Run>& runs) {
    for (std::int64_t at = skip_zeros(items, 0, count); at < count; at = skip_zeros(items, at, count)) {
        const std::int64_t begin = at;
        while (at < count && items[at] != 0) {
            ++at;
        }
        const auto first = static_cast<std::int32_t>(tick + begin);
        const auto last = static_cast<std::int32_t>(tick + at);
        if (!runs.empty() && runs.back().row == row && runs.back().end == first) {
            runs.back().end = last; // continues the run before
        } else {
            runs.push_back({row, first, last});
        }
    }
}

template <class Bits>
SparseSamples sparse_of(const at::Tensor& dense) {
    const std::int64_t rows = dense.size(0), ticks = dense.size(1);
    const auto* from = static_cast<const Bits*>(dense.const_data_ptr());
    const std::int64_t blocks = (rows + rows_of_block - 1) / rows_of_block;
    std::vector<std::vector<Run>> found(static_cast<std::size_t>(blocks));
    at::parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin * rows_of_block; row < std::min(end * rows_of_block, rows); ++row) {
            append_runs(from + row * ticks, ticks, static_cast<std::int32_t>(row), 0,
                        found[static_cast<std::size_t>(row / rows_of_block)]);
        }
    });
    std::vector<Run> runs;
    for (const auto& block : found) {
        runs.insert(runs.end(), block.begin(), block.end());
    }
    std::int64_t count = 0;
    for (const Run& run : runs) {
        count += run.size();
    }
    at::Tensor values = at::empty({count}, dense.options());
    auto* to = static_cast<Bits*>(values.mutable_data_ptr());
    for (const Run& run : runs) {
        to = std::copy_n(from + run.row * ticks + run.begin, run.size(), to);
    }
    return {rows, ticks, tensor_of(runs), values};
}

template <class Bits>
SparseSamples shortened(const SparseSamples& samples) {
    const auto* from = static_cast<const Bits*>(samples.values.const_data_ptr());
    const Run* const given = runs_of(samples);
    const std::int64_t count = samples.runs.size(0);
    std::vector<Run> runs;
    runs.reserve(static_cast<std::size_t>(count));
    const Bits* at = from;
    for (const Run* run = given; run != given + count; at += run->size(), ++run) {
        append_runs(at, run->size(), run->row, run->begin, runs);
    }
    std::int64_t kept = 0;
    for (const Run& run : runs) {
        kept += run.size();
    }
    at::Tensor values = samples.values;
    if (kept != values.numel()) {
        values = at::empty({kept}, values.options());
        const auto is_set = [](Bits item) { return item != 0; };
        std::copy_if(from, from + samples.values.numel(), static_cast<Bits*>(values.mutable_data_ptr()),
                     is_set);
    }
    return {samples.rows, samples.ticks, tensor_of(runs), values};
}

std::string to_string(const Run& run) {
    return "row " + std::to_string(run.row) + ", ticks " + std::to_string(run.begin) + " to " +
           std::to_string(run.end);
}

std::optional<SparseFault> fault_of_runs(const SparseSamples& samples) {
    const Run* const runs = runs_of(samples);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < samples.runs.size(0); ++i) {
        const Run& run = runs[i];
        const std::string where = "run " + std::to_string(i) + ": ";
        if (run.row < 0 || run.row >= samples.rows || run.begin < 0 || run.end > samples.ticks) {
            return SparseFault{.what = "a run is outside of the frame",
                               .seen = where + to_string(run),
                               .expected = std::to_string(samples.rows) + " rows, " +
                                           std::to_string(samples.ticks) + " ticks"};
        }
        if (run.begin >= run.end) {
            return SparseFault{.what = "a run ends before it begins, or is empty",
                               .seen = where + to_string(run),
                               .expected = "begin tick before end tick"};
        }
        if (i > 0 &&
            (run.row < runs[i - 1].row || (run.row == runs[i - 1].row && run.begin < runs[i - 1].end))) {
            return SparseFault{.what = "two runs overlap or are out of order",
                               .seen = where + to_string(run) + ", after " + to_string(runs[i - 1]),
                               .expected = "ascending rows, and ascending ticks in a row"};
        }
        count += run.size();
    }
    if (count != samples.values.numel()) {
        return SparseFault{.in_runs = false,
                           .what = "the values do not fit the runs",
                           .seen = std::to_string(samples.values.numel()) + " values",
                           .expected = std::to_string(count) + ", the samples of all runs"};
    }
    return std::nullopt;
}

} // namespace

std::optional<SparseFault> fault_of(const SparseSamples& samples) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto is_plain = [](const at::Tensor& tensor) {
        return tensor.defined() && tensor.device().is_cpu() && tensor.is_contiguous();
    };
    if (samples.rows < 0 || samples.ticks < 0 || samples.rows > most || samples.ticks > most) {
        return SparseFault{.what = "the shape of the frame is impossible",
                           .seen = std::to_string(samples.rows) + " x " + std::to_string(samples.ticks),
                           .expected = "(row, tick), 32 bits each"};
    }
    if (!is_plain(samples.runs) || samples.runs.dim() != 2 || samples.runs.size(1) != 3 ||
        samples.runs.scalar_type() != at::kInt) {
        return SparseFault{.what = "the runs have the wrong shape or type",
                           .seen = describe_tensor(samples.runs),
                           .expected = "(run, 3) int32: row, begin tick, end tick"};
    }
    if (!is_plain(samples.values) || samples.values.dim() != 1 ||
        !is_sample_type(samples.values.scalar_type())) {
        return SparseFault{.in_runs = false,
                           .what = "the values have the wrong shape or type",
                           .seen = describe_tensor(samples.values),
                           .expected = "(sample) float32 or int16"};
    }
    return fault_of_runs(samples);
}

void require_faultless(const SparseSamples& samples, const char* operation) {
    if (const auto fault = fault_of(samples)) {
        throw Error(ErrorKind::Internal, {.what = fault->what,
                                          .where = operation,
                                          .seen = fault->seen,
                                          .expected = fault->expected,
                                          .hint = "report this defect"});
    }
}

at::Tensor dense(const SparseSamples& sparse) {
    require_faultless(sparse, "dense");
    const Run* const runs = runs_of(sparse);
    const std::int64_t count = sparse.runs.size(0);
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(count)); // of the values of each run
    for (std::int64_t i = 1; i < count; ++i) {
        offsets[static_cast<std::size_t>(i)] = offsets[static_cast<std::size_t>(i - 1)] + runs[i - 1].size();
    }
    at::Tensor result = at::empty({sparse.rows, sparse.ticks}, sparse.values.options());
    const auto item = static_cast<std::int64_t>(result.element_size());
    auto* const to = static_cast<std::uint8_t*>(result.mutable_data_ptr());
    const auto* const from = static_cast<const std::uint8_t*>(sparse.values.const_data_ptr());
    at::parallel_for(0, sparse.rows, rows_of_block, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t row_bytes = sparse.ticks * item;
        std::memset(to + begin * row_bytes, 0, static_cast<std::size_t>((end - begin) * row_bytes));
        const Run* run =
            std::partition_point(runs, runs + count, [&](const Run& r) { return r.row < begin; });
        for (; run != runs + count && run->row < end; ++run) {
            std::memcpy(to + run->row * row_bytes + run->begin * item,
                        from + offsets[static_cast<std::size_t>(run - runs)] * item,
                        static_cast<std::size_t>(run->size() * item));
        }
    });
    return result;
}

SparseSamples sparse(const at::Tensor& dense) {
    require_tensor(dense.defined() && dense.device().is_cpu() && dense.dim() == 2 &&
                       is_sample_type(dense.scalar_type()) &&
                       std::max(dense.size(0), dense.size(1)) <= std::numeric_limits<std::int32_t>::max(),
                   "sparse", "dense", dense, "(row, tick) float32 or int16 on the host");
    const at::Tensor rows = dense.contiguous();
    return dense.scalar_type() == at::kFloat ? sparse_of<std::uint32_t>(rows)
                                             : sparse_of<std::uint16_t>(rows);
}

SparseSamples with_shortest_runs(const SparseSamples& samples) {
    require_faultless(samples, "with_shortest_runs");
    return samples.values.scalar_type() == at::kFloat ? shortened<std::uint32_t>(samples)
                                                      : shortened<std::uint16_t>(samples);
}

} // namespace spng
