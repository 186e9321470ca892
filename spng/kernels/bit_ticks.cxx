// SPDX-License-Identifier: Apache-2.0
#include "spng/core/bit_words.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/operators.h"
#include "spng/kernels/rows.h"

#include <ATen/ops/empty.h>

namespace spng::kernels {

namespace {

at::Tensor with_last_size(const at::Tensor& like, std::int64_t size, at::ScalarType type) {
    auto shape = like.sizes().vec();
    shape.back() = size;
    return at::empty(shape, like.options().dtype(type));
}

const bool* flags_of(const at::Tensor& flags) {
    return flags.defined() ? flags.const_data_ptr<bool>() : nullptr;
}

template <class Real>
void pack_above(const char* kernel, const at::Tensor& rows, const at::Tensor& rms, double factor,
                const at::Tensor& pedestal, double nominal, const at::Tensor& good, at::Tensor& packed) {
    launch(kernel, packed.device(), blocks_for(rows.size(0), 1), 0, rows.const_data_ptr<Real>(), rows.size(0),
           rows.stride(0), rows.size(1), rms.const_data_ptr<Real>(), static_cast<Real>(factor),
           pedestal.defined() ? pedestal.const_data_ptr<Real>() : nullptr, static_cast<Real>(nominal),
           flags_of(good), packed.mutable_data_ptr<std::int64_t>());
}

} // namespace

at::Tensor pack_ticks(const at::Tensor& mask) {
    const std::int64_t ticks = mask.size(-1);
    at::Tensor packed = with_last_size(mask, words_for(ticks), at::kLong);
    if (packed.numel() > 0) {
        const at::Tensor input = mask.contiguous();
        const std::int64_t rows = mask.numel() / ticks;
        launch("pack_ticks", mask.device(), blocks_for(rows, 1), 0, input.const_data_ptr<bool>(), rows, ticks,
               packed.mutable_data_ptr<std::int64_t>());
    }
    return packed;
}

at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks) {
    at::Tensor mask = with_last_size(words, ticks, at::kBool);
    if (mask.numel() > 0) {
        const at::Tensor input = words.contiguous();
        const std::int64_t rows = mask.numel() / ticks;
        launch("unpack_ticks", words.device(), blocks_for(rows, 1), 0, input.const_data_ptr<std::int64_t>(),
               rows, ticks, mask.mutable_data_ptr<bool>());
    }
    return mask;
}

at::Tensor pack_above(const at::Tensor& waveform, const at::Tensor& rms, double factor,
                      const std::optional<at::Tensor>& pedestal, double nominal,
                      const std::optional<at::Tensor>& good) {
    at::Tensor packed = with_last_size(waveform, words_for(waveform.size(-1)), at::kLong);
    if (packed.numel() > 0) {
        const at::Tensor rows = rows_in_place(waveform);
        const at::Tensor noise = rms.contiguous();
        const at::Tensor zero = pedestal ? pedestal->contiguous() : at::Tensor();
        const at::Tensor flags = good ? good->contiguous() : at::Tensor();
        waveform.scalar_type() == at::kFloat
            ? pack_above<float>("pack_above_float32", rows, noise, factor, zero, nominal, flags, packed)
            : pack_above<double>("pack_above_float64", rows, noise, factor, zero, nominal, flags, packed);
    }
    return packed;
}

} // namespace spng::kernels
