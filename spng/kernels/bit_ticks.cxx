// SPDX-License-Identifier: Apache-2.0
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/bit_words.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/rows.h"

#include <ATen/ops/empty.h>

#include <map>
#include <vector>

namespace spng::kernels {

namespace {

at::Tensor with_last_size(const at::Tensor& like, std::int64_t size, at::ScalarType type) {
    auto shape = like.sizes().vec();
    shape.back() = size;
    return at::empty(shape, like.options().dtype(type));
}

template <class Real>
const Real* data_of(const at::Tensor& values) {
    return values.defined() ? values.const_data_ptr<Real>() : nullptr;
}

/// Some of the levels, and the waveforms for them.
struct LevelPart {
    std::vector<at::Tensor> rows, rms, pedestals;
    std::vector<int> waveform_of_level;
    std::size_t first_level = 0;
};

template <class Real>
void pack_levels(const char* kernel, const LevelPart& part, const at::Tensor& good,
                 at::ArrayRef<double> factors, at::ArrayRef<double> nominals, at::Tensor& packed) {
    List<const Real*, max_waveforms> waveforms{}, rms{}, pedestals{};
    List<std::int64_t, max_waveforms> strides{};
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
        waveforms.at[i] = part.rows[i].const_data_ptr<Real>();
        strides.at[i] = part.rows[i].stride(0);
        rms.at[i] = data_of<Real>(part.rms[i]);
        pedestals.at[i] = data_of<Real>(part.pedestals[i]);
    }
    List<int, max_levels> waveform_of_level{};
    List<Real, max_levels> factor{}, nominal{};
    for (std::size_t i = 0; i < part.waveform_of_level.size(); ++i) {
        waveform_of_level.at[i] = part.waveform_of_level[i];
        factor.at[i] = static_cast<Real>(factors[part.first_level + i]);
        nominal.at[i] = static_cast<Real>(nominals[part.first_level + i]);
    }
    const at::Tensor& first = part.rows.front();
    const auto waveform_count = static_cast<std::int64_t>(part.rows.size());
    at::Tensor levels = packed.narrow(0, static_cast<std::int64_t>(part.first_level),
                                      static_cast<std::int64_t>(part.waveform_of_level.size()));
    launch(kernel, packed.device(), blocks_for(first.size(0) * waveform_count, 1), 0, waveforms, strides, rms,
           pedestals, data_of<bool>(good), static_cast<int>(waveform_count), first.size(0), first.size(1),
           waveform_of_level, factor, nominal, static_cast<int>(part.waveform_of_level.size()),
           levels.mutable_data_ptr<std::int64_t>());
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

at::Tensor pack_levels(at::TensorList waveforms, const c10::List<std::optional<at::Tensor>>& rms,
                       const c10::List<std::optional<at::Tensor>>& pedestals,
                       const std::optional<at::Tensor>& good, at::IntArrayRef waveform_of_level,
                       at::ArrayRef<double> factors, at::ArrayRef<double> nominals) {
    auto shape = waveforms[0].sizes().vec();
    shape.back() = words_for(shape.back());
    shape.insert(shape.begin(), static_cast<std::int64_t>(waveform_of_level.size()));
    at::Tensor packed = at::empty(shape, waveforms[0].options().dtype(at::kLong));
    if (packed.numel() == 0) {
        return packed;
    }
    const at::Tensor flags = good ? good->contiguous() : at::Tensor();
    const auto contiguous = [](const std::optional<at::Tensor>& values) {
        return values ? values->contiguous() : at::Tensor();
    };
    LevelPart part;
    std::map<std::int64_t, int> known; // index in the list of waveforms -> in the part
    const auto finish = [&] {
        waveforms[0].scalar_type() == at::kFloat
            ? pack_levels<float>("pack_levels_float32", part, flags, factors, nominals, packed)
            : pack_levels<double>("pack_levels_float64", part, flags, factors, nominals, packed);
    };
    for (std::size_t level = 0; level < waveform_of_level.size(); ++level) {
        const auto waveform = waveform_of_level[level];
        if (part.waveform_of_level.size() == max_levels ||
            (known.size() == max_waveforms && !known.contains(waveform))) {
            finish();
            part = LevelPart{};
            part.first_level = level;
            known.clear();
        }
        const auto [entry, is_new] = known.try_emplace(waveform, static_cast<int>(known.size()));
        if (is_new) {
            part.rows.push_back(rows_in_place(waveforms[waveform]));
            part.rms.push_back(contiguous(rms.get(waveform)));
            part.pedestals.push_back(contiguous(pedestals.get(waveform)));
        }
        part.waveform_of_level.push_back(entry->second);
    }
    finish();
    return packed;
}

} // namespace spng::kernels
