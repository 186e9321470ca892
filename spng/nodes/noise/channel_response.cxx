// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/channel_response.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/core/units.h"
#include "spng/detector/channel_list.h"
#include "spng/detector/fft_size.h"
#include "spng/detector/response_components.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace spng {
namespace {

constexpr double max_boost = 4;          // of the ratio, over its value at frequency 0
constexpr double fine_period = 5;        // ns, for the transform of the continuous response
constexpr double response_length = 1e4;  // ns, see electronics_response()
constexpr std::int64_t row_buffers = 10; // waveforms as temporaries of a row

const Registration<ChannelResponse> registration{
    {.type = "SPNGChannelResponse",
     .kind = "noise",
     .text = "corrects the response of channels whose electronics differ from the nominal one",
     .memory = step_memory_rule({.use = MemoryUse::input, .copies = 3, .bytes = composition_bytes})}};

/// Return the transform of the response at the frequencies of response_kernel_ticks samples, complex128.
at::Tensor transform_of(const Electronics& electronics, double period) {
    const auto samples = static_cast<std::int64_t>(response_length / fine_period);
    const auto response = sample_electronics_response(electronics, fine_period, samples);
    const auto time = (at::arange(samples, at::kDouble) + 0.5) * fine_period;
    const auto step = 2 * std::numbers::pi / (static_cast<double>(response_kernel_ticks) * period);
    const auto angle =
        (at::arange(response_kernel_ticks / 2 + 1, at::kDouble) * step).unsqueeze(1) * time.unsqueeze(0);
    return at::complex(at::matmul(at::cos(angle), response), -at::matmul(at::sin(angle), response));
}

} // namespace

at::Tensor response_kernel(const Electronics& nominal, const Electronics& own, double period) {
    auto ratio = transform_of(nominal, period) / transform_of(own, period);
    const auto magnitude = ratio.abs();
    const auto limit = magnitude.select(0, 0) * max_boost;
    ratio = ratio * (limit / magnitude).clamp_max(1);
    return at::fft_irfft(ratio, response_kernel_ticks);
}

at::Tensor correct_response(const at::Tensor& waveforms, const at::Tensor& kernels, const at::Tensor& kinds) {
    const char* name = "correct_response";
    require_tensor((is_real(waveforms) || (waveforms.defined() && waveforms.scalar_type() == at::kShort)) &&
                       waveforms.dim() == 2,
                   name, "waveforms", waveforms, "int16, float32 or float64 (row, tick)");
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    require_tensor(kernels.defined() && kernels.dim() == 2 && kernels.size(1) == response_kernel_ticks &&
                       kernels.scalar_type() == type,
                   name, "kernels", kernels, "(kind, 256) of the type of the result");
    require_tensor(kinds.defined() && kinds.sizes() == waveforms.sizes().slice(0, 1), name, "kinds", kinds,
                   "int64 (row)");
    auto result = at::empty(waveforms.sizes(), waveforms.options().dtype(type));
    if (waveforms.numel() == 0) {
        return result;
    }
    const std::int64_t ticks = waveforms.size(1), half = response_kernel_ticks / 2;
    const std::int64_t padded = fast_fft_size(ticks + half);
    const auto gap = at::zeros({kernels.size(0), padded - response_kernel_ticks}, kernels.options());
    const auto spectra =
        at::fft_rfft(at::cat({kernels.narrow(1, 0, half), gap, kernels.narrow(1, half, half)}, 1), padded);
    const std::int64_t bytes_of_row = row_buffers * padded * result.element_size();
    for_row_chunks(waveforms.size(0), bytes_of_row, [&](std::int64_t first, std::int64_t count) {
        const auto samples = waveforms.narrow(0, first, count).to(type);
        const auto level = std::get<0>(samples.median(1, /*keepdim=*/true));
        const auto spectrum =
            at::fft_rfft(samples - level, padded) * spectra.index_select(0, kinds.narrow(0, first, count));
        result.narrow(0, first, count).copy_(at::fft_irfft(spectrum, padded).narrow(1, 0, ticks).add(level));
    });
    return result;
}

void ChannelResponse::prepare_node(Environment& environment) {
    const ViewGroup& group = group_of(config(), environment, name().text());
    const auto& nominal = environment.service<ElecResponse>(config().elec_response, at_key("elec_response"));
    const auto& list = environment.service<ChannelList>(config().channel_list, at_key("channel_list"));
    const Electronics target = nominal.electronics();
    list.require_electronics_near(target);
    std::vector<std::pair<double, double>> known;
    std::vector<at::Tensor> kernels;
    std::vector<std::int64_t> rows, kinds;
    std::int64_t row = 0;
    for (const auto& view : group.views) {
        for (const int channel : view.channels) {
            const auto found = list.electronics().find(channel);
            if (found != list.electronics().end()) {
                const std::pair own(found->second.gain, found->second.shaping);
                const auto kind = std::find(known.begin(), known.end(), own);
                rows.push_back(row);
                kinds.push_back(kind - known.begin());
                if (kind == known.end()) {
                    known.push_back(own);
                    Electronics electronics = target;
                    electronics.gain = own.first / (units::millivolt / units::femtocoulomb);
                    electronics.shaping = own.second;
                    kernels.push_back(response_kernel(target, electronics, config().readout_period));
                }
            }
            ++row;
        }
    }
    if (rows.empty()) {
        return;
    }
    const auto device = context().device();
    m_kernels = at::stack(kernels).to(at::TensorOptions(device).dtype(context().real()));
    m_rows = at::tensor(rows, at::kLong).to(device);
    m_kinds = at::tensor(kinds, at::kLong).to(device);
}

NamedTensor ChannelResponse::step(NamedTensor tensor, const EventInfo& /*event*/) {
    NVTX_SCOPED_RANGE("ChannelResponse::correct");
    const auto waveforms = tensor.data.to(context().device(), context().real());
    tensor.data = waveforms;
    if (m_rows.defined()) {
        const auto rows = as_rows(waveforms);
        tensor.data =
            rows.index_copy(0, m_rows, correct_response(rows.index_select(0, m_rows), m_kernels, m_kinds))
                .view(waveforms.sizes());
    }
    return tensor;
}

} // namespace spng
