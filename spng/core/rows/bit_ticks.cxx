// SPDX-License-Identifier: Apache-2.0
#include "spng/core/rows/bit_ticks.h"

#include "spng/core/bit_words.h"
#include "spng/core/operator.h"
#include "spng/core/rows/multiversion.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>

namespace spng {

namespace {

/// Minimum number of rows per thread.
constexpr std::int64_t row_grain = 64;

at::Tensor pack_ticks_cpu(const at::Tensor& mask) {
    const auto input = mask.contiguous();
    const std::int64_t ticks = mask.size(-1);
    const std::int64_t words = words_for(ticks);
    auto shape = mask.sizes().vec();
    shape.back() = words;
    auto packed = at::empty(shape, mask.options().dtype(at::kLong));
    if (packed.numel() == 0) {
        return packed;
    }
    const auto* from = reinterpret_cast<const std::uint8_t*>(input.const_data_ptr<bool>());
    auto* to = reinterpret_cast<std::uint64_t*>(packed.mutable_data_ptr<std::int64_t>());
    at::parallel_for(0, mask.numel() / ticks, row_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            pack_row(from + row * ticks, ticks, to + row * words);
        }
    });
    return packed;
}

at::Tensor unpack_ticks_cpu(const at::Tensor& packed, std::int64_t ticks) {
    const auto input = packed.contiguous();
    const std::int64_t words = packed.size(-1);
    auto shape = packed.sizes().vec();
    shape.back() = ticks;
    auto mask = at::empty(shape, packed.options().dtype(at::kBool));
    if (mask.numel() == 0) {
        return mask;
    }
    const auto* from = reinterpret_cast<const std::uint64_t*>(input.const_data_ptr<std::int64_t>());
    auto* to = reinterpret_cast<std::uint8_t*>(mask.mutable_data_ptr<bool>());
    at::parallel_for(0, packed.numel() / words, row_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            unpack_row(from + row * words, ticks, to + row * ticks);
        }
    });
    return mask;
}

template <class Sample>
SPNG_MULTIVERSION void compare_row(const Sample* row, std::int64_t ticks, Sample threshold,
                                   std::uint64_t* words) {
    std::uint8_t above[bits_per_word];
    for (std::int64_t first = 0; first < ticks; first += bits_per_word) {
        const std::int64_t count = std::min(bits_per_word, ticks - first);
        for (std::int64_t bit = 0; bit < count; ++bit) {
            above[bit] = row[first + bit] > threshold;
        }
        pack_row(above, count, words++);
    }
}

using OptionalTensors = c10::List<std::optional<at::Tensor>>;

/// Round after each operation to the type of the samples, so that the result agrees with the CUDA
/// kernel. This is not a SPNG_MULTIVERSION function, because the compiler would fuse the operations
/// there.
template <class Sample>
Sample threshold_of_row(const Sample* rms, double factor, const Sample* pedestal, double nominal) {
    Sample threshold = rms ? *rms * static_cast<Sample>(factor) : Sample{0};
    if (pedestal) {
        threshold += *pedestal;
    }
    return threshold + static_cast<Sample>(nominal);
}

/// The rows of a waveform, with adjacent ticks.
struct WaveformRows {
    at::Tensor rows, rms, pedestal; ///< the last two may be undefined
};

WaveformRows rows_of_waveform(const at::Tensor& waveform, const std::optional<at::Tensor>& rms,
                              const std::optional<at::Tensor>& pedestal) {
    // Rows of a crop in time have a constant stride, so reshape() returns a view.
    const at::Tensor rows = waveform.reshape({-1, waveform.size(-1)});
    const auto contiguous = [](const std::optional<at::Tensor>& values) {
        return values ? values->contiguous() : at::Tensor();
    };
    return {rows.size(1) > 1 && rows.stride(1) != 1 ? rows.contiguous() : rows, contiguous(rms),
            contiguous(pedestal)};
}

template <class Sample>
void compare_rows(const WaveformRows& input, double factor, double nominal, const bool* good,
                  std::int64_t begin, std::int64_t end, std::uint64_t* to) {
    const std::int64_t ticks = input.rows.size(1);
    const std::int64_t words = words_for(ticks);
    const std::int64_t stride = input.rows.stride(0);
    const auto* from = input.rows.const_data_ptr<Sample>();
    const auto* unit = input.rms.defined() ? input.rms.const_data_ptr<Sample>() : nullptr;
    const auto* zero = input.pedestal.defined() ? input.pedestal.const_data_ptr<Sample>() : nullptr;
    for (std::int64_t row = begin; row < end; ++row) {
        if (good && !good[row]) {
            std::fill_n(to + row * words, words, 0);
            continue;
        }
        const Sample level =
            threshold_of_row(unit ? unit + row : nullptr, factor, zero ? zero + row : nullptr, nominal);
        compare_row(from + row * stride, ticks, level, to + row * words);
    }
}

at::Tensor empty_levels(at::TensorList waveforms, std::size_t levels) {
    auto shape = waveforms[0].sizes().vec();
    shape.back() = words_for(shape.back());
    shape.insert(shape.begin(), static_cast<std::int64_t>(levels));
    return at::empty(shape, waveforms[0].options().dtype(at::kLong));
}

at::Tensor pack_levels_cpu(at::TensorList waveforms, const OptionalTensors& rms,
                           const OptionalTensors& pedestals, const std::optional<at::Tensor>& good,
                           at::IntArrayRef waveform_of_level, at::ArrayRef<double> factors,
                           at::ArrayRef<double> nominals) {
    at::Tensor packed = empty_levels(waveforms, waveform_of_level.size());
    if (packed.numel() == 0) {
        return packed;
    }
    std::vector<WaveformRows> rows;
    for (std::size_t i = 0; i < waveforms.size(); ++i) {
        rows.push_back(rows_of_waveform(waveforms[i], rms.get(i), pedestals.get(i)));
    }
    const at::Tensor flags = good ? good->contiguous() : at::Tensor();
    const bool* wanted = good ? flags.const_data_ptr<bool>() : nullptr;
    const auto compare =
        waveforms[0].scalar_type() == at::kFloat ? compare_rows<float> : compare_rows<double>;
    auto* to = reinterpret_cast<std::uint64_t*>(packed.mutable_data_ptr<std::int64_t>());
    at::parallel_for(0, rows[0].rows.size(0), row_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::size_t level = 0; level < waveform_of_level.size(); ++level) {
            compare(rows[waveform_of_level[level]], factors[level], nominals[level], wanted, begin, end,
                    to + static_cast<std::int64_t>(level) * packed.stride(0));
        }
    });
    return packed;
}

const Operator pack_ticks_op{"pack_ticks(Tensor mask) -> Tensor", pack_ticks_cpu, kernels::pack_ticks};
const Operator pack_levels_op{
    "pack_levels(Tensor[] waveforms, Tensor?[] rms, Tensor?[] pedestals, Tensor? good, "
    "int[] waveform_of_level, float[] factors, float[] nominals) -> Tensor",
    pack_levels_cpu, kernels::pack_levels};
const Operator unpack_ticks_op{"unpack_ticks(Tensor words, int ticks) -> Tensor", unpack_ticks_cpu,
                               kernels::unpack_ticks};

} // namespace

at::Tensor pack_ticks(const at::Tensor& mask) {
    require_tensor(is_mask(mask) && mask.dim() >= 1, "pack_ticks", "mask", mask, "bool (..., row, tick)");
    return pack_ticks_op(mask);
}

at::Tensor pack_levels(const std::vector<LevelRows>& inputs, const std::vector<Level>& levels,
                       const std::optional<at::Tensor>& good) {
    require_argument(!inputs.empty(), "pack_levels", "waveforms", 0, "at least one waveform");
    const at::Tensor& first = inputs.front().waveform;
    require_tensor(is_real(first) && first.dim() >= 1, "pack_levels", "waveform", first,
                   "float32 or float64 (..., row, tick)");
    const auto require_one_per_row = [&](const char* name, const std::optional<at::Tensor>& seen,
                                         at::ScalarType type) {
        require_tensor(!seen || (seen->defined() && seen->scalar_type() == type &&
                                 seen->sizes() == first.sizes().slice(0, first.dim() - 1)),
                       "pack_levels", name, seen ? *seen : at::Tensor(),
                       "one for each row of " + describe_tensor(first));
    };
    std::vector<at::Tensor> waveforms;
    OptionalTensors rms, pedestals;
    for (const LevelRows& input : inputs) {
        require_tensor(input.waveform.defined() && input.waveform.scalar_type() == first.scalar_type() &&
                           input.waveform.sizes() == first.sizes(),
                       "pack_levels", "waveform", input.waveform,
                       "shape and type of the first, " + describe_tensor(first));
        require_one_per_row("RMS", input.rms, first.scalar_type());
        require_one_per_row("pedestal", input.pedestal, first.scalar_type());
        waveforms.push_back(input.waveform);
        rms.push_back(input.rms);
        pedestals.push_back(input.pedestal);
    }
    require_one_per_row("mask of good rows", good, at::kBool);
    std::vector<std::int64_t> waveform_of_level;
    std::vector<double> factors, nominals;
    for (const Level& level : levels) {
        require_argument(level.waveform >= 0 && level.waveform < static_cast<std::int64_t>(inputs.size()),
                         "pack_levels", "waveform of a level", level.waveform,
                         "0 to " + std::to_string(inputs.size() - 1));
        waveform_of_level.push_back(level.waveform);
        factors.push_back(level.factor);
        nominals.push_back(level.nominal);
    }
    return pack_levels_op(waveforms, rms, pedestals, good, waveform_of_level, factors, nominals);
}

at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks) {
    require_argument(ticks >= 0, "unpack_ticks", "number of ticks", ticks, "0 or more");
    require_tensor(words.defined() && words.scalar_type() == at::kLong && words.dim() >= 1 &&
                       words.size(-1) == words_for(ticks),
                   "unpack_ticks", "words", words,
                   "int64 (..., row, " + std::to_string(words_for(ticks)) + ") for " + std::to_string(ticks) +
                       " ticks");
    return unpack_ticks_op(words, ticks);
}

} // namespace spng
