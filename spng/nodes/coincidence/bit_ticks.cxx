// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/bit_ticks.h"

#include "spng/core/bit_words.h"
#include "spng/core/find_operator.h"
#include "spng/core/multiversion.h"
#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

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

/// Round after each operation to the type of the samples, so that the result agrees with the composite and
/// the CUDA kernel. This is not a SPNG_MULTIVERSION function, because the compiler would fuse the operations
/// there.
template <class Sample>
Sample threshold_of_row(Sample rms, double factor, const Sample* pedestal, double nominal) {
    Sample threshold = rms * static_cast<Sample>(factor);
    if (pedestal) {
        threshold += *pedestal;
    }
    return threshold + static_cast<Sample>(nominal);
}

template <class Sample>
void compare_rows(const at::Tensor& rows, const at::Tensor& rms, double factor, const at::Tensor& pedestal,
                  double nominal, const bool* good, at::Tensor& packed) {
    const std::int64_t ticks = rows.size(1);
    const std::int64_t words = words_for(ticks);
    const std::int64_t stride = rows.stride(0);
    const auto* from = rows.const_data_ptr<Sample>();
    const auto* unit = rms.const_data_ptr<Sample>();
    const auto* zero = pedestal.defined() ? pedestal.const_data_ptr<Sample>() : nullptr;
    auto* to = reinterpret_cast<std::uint64_t*>(packed.mutable_data_ptr<std::int64_t>());
    at::parallel_for(0, rows.size(0), row_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            if (good && !good[row]) {
                std::fill_n(to + row * words, words, 0);
                continue;
            }
            const Sample level = threshold_of_row(unit[row], factor, zero ? zero + row : nullptr, nominal);
            compare_row(from + row * stride, ticks, level, to + row * words);
        }
    });
}

at::Tensor pack_above_cpu(const at::Tensor& waveform, const at::Tensor& rms, double factor,
                          const std::optional<at::Tensor>& pedestal, double nominal,
                          const std::optional<at::Tensor>& good) {
    auto shape = waveform.sizes().vec();
    shape.back() = words_for(waveform.size(-1));
    auto packed = at::empty(shape, waveform.options().dtype(at::kLong));
    if (packed.numel() == 0) {
        return packed;
    }
    // Rows of a crop in time have a constant stride, so reshape() returns a view.
    at::Tensor rows = waveform.reshape({-1, waveform.size(-1)});
    rows = rows.size(1) > 1 && rows.stride(1) != 1 ? rows.contiguous() : rows;
    const at::Tensor noise = rms.contiguous();
    const at::Tensor zero = pedestal ? pedestal->contiguous() : at::Tensor();
    const at::Tensor flags = good ? good->contiguous() : at::Tensor();
    const auto compare = waveform.scalar_type() == at::kFloat ? compare_rows<float> : compare_rows<double>;
    compare(rows, noise, factor, zero, nominal, good ? flags.const_data_ptr<bool>() : nullptr, packed);
    return packed;
}

at::Tensor pack_above_composite(const at::Tensor& waveform, const at::Tensor& rms, double factor,
                                const std::optional<at::Tensor>& pedestal, double nominal,
                                const std::optional<at::Tensor>& good) {
    at::Tensor threshold = rms.mul(factor);
    if (pedestal) {
        threshold = threshold.add(*pedestal);
    }
    at::Tensor above = waveform.gt(threshold.add(nominal).unsqueeze(-1));
    if (good) {
        above = above.logical_and(good->unsqueeze(-1));
    }
    return pack_ticks(above);
}

at::Tensor bit_indices(const at::Tensor& like) {
    return at::arange(bits_per_word, like.options().dtype(at::kLong));
}

at::Tensor packed_rows(const at::Tensor& mask) {
    const std::int64_t words = words_for(mask.size(-1));
    auto shape = mask.sizes().vec();
    shape.back() = words;
    shape.push_back(bits_per_word);
    const auto whole = at::constant_pad_nd(mask, {0, words * bits_per_word - mask.size(-1)}).reshape(shape);
    // All bits have different positions, so the sum is the bitwise OR.
    return whole.to(at::kLong).bitwise_left_shift(bit_indices(mask)).sum(-1);
}

at::Tensor unpacked_rows(const at::Tensor& packed, std::int64_t ticks) {
    const auto bits = packed.unsqueeze(-1).bitwise_right_shift(bit_indices(packed)).bitwise_and(1);
    return bits.flatten(-2).narrow(-1, 0, ticks).to(at::kBool);
}

/// Return an operation on rows with two int64 for each bit, applied to a few rows at a time.
/// @param row_size  of the result
/// @param words     of a packed row
template <class Operation>
at::Tensor by_rows(const at::Tensor& input, std::int64_t row_size, at::ScalarType type, std::int64_t words,
                   const Operation& operation) {
    auto shape = input.sizes().vec();
    shape.back() = row_size;
    auto result = at::empty(shape, input.options().dtype(type));
    if (result.numel() == 0) {
        return result;
    }
    const auto rows = as_rows(input);
    const auto result_rows = as_rows(result);
    constexpr std::int64_t bytes_of_bit = 2 * 8 + 2;
    for_row_chunks(rows.size(0), bytes_of_bit * bits_per_word * words,
                   [&](std::int64_t first, std::int64_t count) {
                       result_rows.narrow(0, first, count).copy_(operation(rows.narrow(0, first, count)));
                   });
    return result;
}

at::Tensor pack_ticks_composite(const at::Tensor& mask) {
    const std::int64_t words = words_for(mask.size(-1));
    return by_rows(mask, words, at::kLong, words, packed_rows);
}

at::Tensor unpack_ticks_composite(const at::Tensor& packed, std::int64_t ticks) {
    return by_rows(packed, ticks, at::kBool, packed.size(-1),
                   [&](const at::Tensor& rows) { return unpacked_rows(rows, ticks); });
}

} // namespace

at::Tensor pack_ticks(const at::Tensor& mask) {
    require_tensor(is_mask(mask) && mask.dim() >= 1, "pack_ticks", "mask", mask, "bool (..., row, tick)");
    static const auto operation = find_operator<decltype(pack_ticks_cpu)>("spng::pack_ticks");
    return operation.call(mask);
}

at::Tensor pack_above(const at::Tensor& waveform, const Threshold& threshold) {
    require_tensor(is_real(waveform) && waveform.dim() >= 1, "pack_above", "waveform", waveform,
                   "float32 or float64 (..., row, tick)");
    const auto require_one_per_row = [&](const char* name, const at::Tensor& seen, at::ScalarType type) {
        require_tensor(seen.defined() && seen.scalar_type() == type &&
                           seen.sizes() == waveform.sizes().slice(0, waveform.dim() - 1),
                       "pack_above", name, seen, "one for each row of " + describe_tensor(waveform));
    };
    require_one_per_row("RMS", threshold.rms, waveform.scalar_type());
    if (threshold.pedestal) {
        require_one_per_row("pedestal", *threshold.pedestal, waveform.scalar_type());
    }
    if (threshold.good) {
        require_one_per_row("mask of good rows", *threshold.good, at::kBool);
    }
    static const auto operation = find_operator<decltype(pack_above_cpu)>("spng::pack_above");
    return operation.call(waveform, threshold.rms, threshold.factor, threshold.pedestal, threshold.nominal,
                          threshold.good);
}

at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks) {
    require_argument(ticks >= 0, "unpack_ticks", "number of ticks", ticks, "0 or more");
    require_tensor(words.defined() && words.scalar_type() == at::kLong && words.dim() >= 1 &&
                       words.size(-1) == words_for(ticks),
                   "unpack_ticks", "words", words,
                   "int64 (..., row, " + std::to_string(words_for(ticks)) + ") for " + std::to_string(ticks) +
                       " ticks");
    static const auto operation = find_operator<decltype(unpack_ticks_cpu)>("spng::unpack_ticks");
    return operation.call(words, ticks);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def("pack_ticks(Tensor mask) -> Tensor");
    library.def("pack_above(Tensor waveform, Tensor rms, float factor, Tensor? pedestal, float nominal, "
                "Tensor? good) -> Tensor");
    library.def("unpack_ticks(Tensor words, int ticks) -> Tensor");
}

TORCH_LIBRARY_IMPL(spng, CPU, library) {
    library.impl("pack_ticks", pack_ticks_cpu);
    library.impl("pack_above", pack_above_cpu);
    library.impl("unpack_ticks", unpack_ticks_cpu);
}

TORCH_LIBRARY_IMPL(spng, CompositeExplicitAutograd, library) {
    library.impl("pack_ticks", pack_ticks_composite);
    library.impl("pack_above", pack_above_composite);
    library.impl("unpack_ticks", unpack_ticks_composite);
}

} // namespace spng
