// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/impact_convolution.h"

#include "spng/detector/fft_size.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_ifft.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace spng {
namespace {

/// Return the index of every value in a dense image (row, slot, tick): (value) int64 on the host.
at::Tensor dense_indices(const at::Tensor& runs, const at::Tensor& first_run, std::int64_t values,
                         std::int64_t ticks) {
    at::Tensor index = at::empty({values}, at::kLong);
    auto* to = index.mutable_data_ptr<std::int64_t>();
    const auto* run = reinterpret_cast<const ChargeRun*>(runs.const_data_ptr<std::int32_t>());
    const auto* first = first_run.const_data_ptr<std::int32_t>();
    const std::int64_t slots = first_run.size(0) - 1;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
        for (std::int32_t at = first[slot]; at < first[slot + 1]; ++at) {
            for (std::int32_t i = 0; i < run[at].length; ++i) {
                to[run[at].offset + i] = (run[at].row * slots + slot) * ticks + run[at].tick + i;
            }
        }
    }
    return index;
}

/// Return the channel of every wire, in the order of `wires`: (wire) int64 on the host.
at::Tensor channels_of_wires(const at::Tensor& first_wire, std::int64_t wires) {
    at::Tensor channels = at::empty({wires}, at::kLong);
    auto* to = channels.mutable_data_ptr<std::int64_t>();
    const auto* first = first_wire.const_data_ptr<std::int32_t>();
    for (std::int64_t channel = 0; channel + 1 < first_wire.size(0); ++channel) {
        std::fill(to + first[channel], to + first[channel + 1], channel);
    }
    return channels;
}

} // namespace

at::Tensor impact_convolution_composite(const at::Tensor& electrons, const at::Tensor& runs,
                                        const at::Tensor& first_run, const at::Tensor& kernel,
                                        const at::Tensor& first_wire, const at::Tensor& wires,
                                        std::int64_t first_tick, std::int64_t ticks) {
    const std::int64_t slots = first_run.size(0) - 1;
    const std::int64_t regions = kernel.size(0);
    const std::int64_t rows = kernel.size(1);
    const std::int64_t image_ticks = ticks - first_tick;
    const std::int64_t padded_slots = fast_fft_size(slots + regions - 1);
    const std::int64_t padded_ticks = fast_fft_size(image_ticks + kernel.size(2) - 1);
    const auto device = kernel.device();

    at::Tensor charge = at::zeros({rows * slots * image_ticks}, kernel.options());
    charge.index_copy_(0, dense_indices(runs, first_run, electrons.size(0), image_ticks).to(device),
                       electrons.to(device, kernel.scalar_type()));
    charge = charge.view({rows, slots, image_ticks});
    // The regions above a wire use the higher rows of the kernel. This is a correlation along slots, which is
    // a convolution with the reversed kernel.
    const at::Tensor reversed = kernel.flip(0);
    at::Tensor sum;
    // One row at a time, because a row needs as much memory as a view.
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto spectrum_of = [&](const at::Tensor& image) {
            return at::fft_fft(at::fft_rfft(image, padded_ticks), padded_slots, 0);
        };
        const at::Tensor product = spectrum_of(charge[row]).mul_(spectrum_of(reversed.select(1, row)));
        sum = sum.defined() ? sum.add_(product) : product;
    }
    const at::Tensor waveforms = at::fft_irfft(at::fft_ifft(sum, std::nullopt, 0), padded_ticks)
                                     .narrow(0, regions / 2, slots)
                                     .narrow(1, -first_tick, ticks);
    at::Tensor result = at::zeros({first_wire.size(0) - 1, ticks}, kernel.options());
    result.index_add_(0, channels_of_wires(first_wire, wires.size(0)).to(device),
                      waveforms.index_select(0, wires.to(device)));
    return result;
}

} // namespace spng
