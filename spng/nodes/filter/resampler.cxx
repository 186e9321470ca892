// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/resampler.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/core/unit_text.h"
#include "spng/detector/fft_size.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>

namespace spng {
namespace {

/// Temporaries of the size of a row: samples, differences and their continuation, two spectra, the inverse
/// transform with its own copy of the spectrum.
constexpr std::int64_t row_buffers = 8;

std::vector<PlannedSet> plan_memory(const NoConfig&, PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const std::int64_t rows = adc.views * adc.channels, row = row_buffers * call.real * adc.ticks;
    const auto working =
        call.scratch(MemoryUse::input, std::min(rows * row, std::max(composition_bytes, row)));
    return {{call.make(adc, MemoryUse::input, call.real)}};
}

const Registration<Resampler> registration{
    {.type = "SPNGResampler",
     .kind = "filter",
     .inputs = {"waveforms"},
     .outputs = {"waveforms"},
     .text = "interpolates raw waveforms at the ticks of the chain, in the frequency domain",
     .memory = memory_rule<Resampler>({.call = plan_memory})}};

} // namespace

at::Tensor resample(const at::Tensor& waveforms, const PeriodRatio& ratio, at::ScalarType type) {
    require_tensor((is_real(waveforms) || (waveforms.defined() && waveforms.scalar_type() == at::kShort)) &&
                       waveforms.dim() >= 1,
                   "resample", "waveforms", waveforms, "int16, float32 or float64 (..., channel, tick)");
    require_argument(type == at::kFloat || type == at::kDouble, "resample", "type of the result",
                     static_cast<std::int64_t>(type), "float32 (6) or float64 (7)");
    const std::int64_t ticks = waveforms.size(-1);
    auto shape = waveforms.sizes().vec();
    shape.back() = ratio.ceil(ticks);
    at::Tensor result = at::empty(shape, waveforms.options().dtype(type));
    if (result.numel() == 0) {
        return result;
    }
    const std::int64_t padded = fast_fft_size(ticks + resampling_margin, ratio.to);
    const std::int64_t resampled = padded / ratio.to * ratio.from;
    const std::int64_t steps = padded - ticks;
    // From the last sample towards the first one, without both.
    const at::Tensor line = at::arange(steps, 0, -1, result.options()).div(static_cast<double>(steps + 1));
    const at::Tensor rows = as_rows(waveforms), result_rows = as_rows(result);
    const std::int64_t bytes_of_row =
        row_buffers * resampled * static_cast<std::int64_t>(c10::elementSize(type));
    for_row_chunks(rows.size(0), bytes_of_row, [&](std::int64_t first, std::int64_t count) {
        // The baseline is thousands of counts: without it the transform of float32 rounds less.
        const at::Tensor samples = rows.narrow(0, first, count).to(type);
        const at::Tensor level = samples.narrow(1, 0, 1);
        const at::Tensor difference = samples.sub(level);
        const at::Tensor cycle = at::cat({difference, difference.narrow(1, ticks - 1, 1).mul(line)}, 1);
        const at::Tensor spectrum = resample_spectrum(at::fft_rfft(cycle), padded, resampled);
        at::Tensor chunk = result_rows.narrow(0, first, count);
        at::add_out(chunk, at::fft_irfft(spectrum, resampled).narrow(1, 0, shape.back()), level);
    });
    return result;
}

Ports Resampler::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("Resampler::resample");
    const EventInfo& event = inputs[0]->event();
    NamedTensor tensor = inputs[0]->only();
    Axis& ticks = tensor.axes.back();
    if (ticks.period == event.tick) {
        return inputs;
    }
    tensor.data = resample(tensor.data, period_ratio(ticks.period, event.tick), context().real());
    require_argument(tensor.data.size(-1) == event.ticks, "SPNGResampler", "length", tensor.data.size(-1),
                     "that of the event, " + std::to_string(event.ticks) + " ticks");
    tensor.notes["resampled"] =
        "from " + format_fixed(ticks.period, 3) + " ns to " + format_fixed(event.tick, 3) + " ns";
    ticks.period = event.tick;
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(tensor)})};
}

} // namespace spng
