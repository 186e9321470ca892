// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/long_pulses.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/operator.h"
#include "spng/core/rows/multiversion.h"
#include "spng/core/tensor_checks.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/roi/robust_rms.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <vector>

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const LongPulsesConfig& config, PlannedCall& call) {
    const PlannedTensor& image = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::images, image.samples() * call.real * 5 / 4);
    PlannedSet images = call.inputs.at(0);
    for (std::size_t i = 0; i < config.samples.size(); ++i) {
        images.push_back(call.make(image, MemoryUse::images, call.real));
    }
    return {images};
}

const Registration<LongPulses> registration{
    {.type = "SPNGLongPulses",
     .kind = "roi",
     .inputs = {"waveform"},
     .outputs = {"images"},
     .text = "makes ROI images in which long, weak pulses are significant",
     .memory = memory_rule<LongPulses>({.call = plan_memory})}};

/// Scale and clip a row.
template <class Sample>
SPNG_MULTIVERSION void scale_row(const Sample* row, std::int64_t ticks, double pedestal, double rms,
                                 double clip, double* scaled) {
    const double scale = rms > 0 ? 1 / rms : 0;
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        scaled[tick] = std::clamp((static_cast<double>(row[tick]) - pedestal) * scale, -clip, clip);
    }
}

/// @param scaled  the row, with `half` zeros on both sides
template <class Sample>
SPNG_MULTIVERSION void sum_row(const double* scaled, std::int64_t ticks, std::int64_t half, Sample* out) {
    double sum = 0;
    for (std::int64_t tick = 0; tick < 2 * half; ++tick) {
        sum += scaled[tick];
    }
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        sum += scaled[tick + 2 * half];
        out[tick] = static_cast<Sample>(sum);
        sum -= scaled[tick];
    }
}

template <class Sample>
void sum_rows(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms, double clip,
              at::IntArrayRef samples, at::Tensor& result) {
    const std::int64_t ticks = waveform.size(-1);
    const std::int64_t max_half = *std::max_element(samples.begin(), samples.end()) / 2;
    const auto* from = waveform.const_data_ptr<Sample>();
    const auto* level = pedestal.const_data_ptr<Sample>();
    const auto* unit = rms.const_data_ptr<Sample>();
    auto* to = result.mutable_data_ptr<Sample>();
    at::parallel_for(0, waveform.numel() / ticks, 16, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> scaled(ticks + 2 * max_half, 0.0);
        for (std::int64_t row = begin; row < end; ++row) {
            scale_row(from + row * ticks, ticks, level[row], unit[row], clip, scaled.data() + max_half);
            for (std::size_t i = 0; i < samples.size(); ++i) {
                const std::int64_t half = samples[i] / 2;
                sum_row(scaled.data() + max_half - half, ticks, half,
                        to + static_cast<std::int64_t>(i) * waveform.numel() + row * ticks);
            }
        }
    });
}

at::Tensor empty_sums(const at::Tensor& waveform, at::IntArrayRef samples) {
    auto shape = waveform.sizes().vec();
    shape.insert(shape.begin(), static_cast<std::int64_t>(samples.size()));
    return at::empty(shape, waveform.options());
}

at::Tensor clipped_running_sum_cpu(const at::Tensor& waveform, const at::Tensor& pedestal,
                                   const at::Tensor& rms, double clip, at::IntArrayRef samples) {
    const at::Tensor input = waveform.contiguous();
    at::Tensor result = empty_sums(waveform, samples);
    if (result.numel() > 0) {
        const auto run = input.scalar_type() == at::kFloat ? sum_rows<float> : sum_rows<double>;
        run(input, pedestal.contiguous(), rms.contiguous(), clip, samples, result);
    }
    return result;
}

/// @param second, third  null if there is none
template <class Sample>
SPNG_MULTIVERSION void sum_of_rows(const Sample* first, const Sample* second, const Sample* third,
                                   std::int64_t ticks, Sample* out) {
    if (third != nullptr) {
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            out[tick] = first[tick] + second[tick] + third[tick];
        }
    } else if (second != nullptr) {
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            out[tick] = first[tick] + second[tick];
        }
    } else {
        std::copy_n(first, ticks, out);
    }
}

template <class Sample>
void sums_of_neighbours(const at::Tensor& waveform, bool cyclic, at::Tensor& result) {
    const std::int64_t last = waveform.size(1) - 1;
    const std::int64_t ticks = waveform.size(2);
    const auto* from = waveform.const_data_ptr<Sample>();
    auto* to = result.mutable_data_ptr<Sample>();
    at::parallel_for(0, waveform.size(0) * waveform.size(1), 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t channel = row % (last + 1);
            const Sample* own = from + row * ticks;
            const Sample* before = channel > 0 ? own - ticks : nullptr;
            const Sample* after = channel < last ? own + ticks : nullptr;
            const Sample* across = nullptr;
            if (cyclic && last > 0) {
                across = channel == 0 ? own + last * ticks : channel == last ? own - last * ticks : nullptr;
            }
            const Sample* second = before ? before : after;
            const Sample* third = before && after ? after : across;
            sum_of_rows(own, second, third, ticks, to + row * ticks);
        }
    });
}

at::Tensor sum_of_neighbours_cpu(const at::Tensor& waveform, bool cyclic) {
    const at::Tensor input = waveform.contiguous();
    at::Tensor result = at::empty_like(input);
    if (result.numel() > 0) {
        input.scalar_type() == at::kFloat ? sums_of_neighbours<float>(input, cyclic, result)
                                          : sums_of_neighbours<double>(input, cyclic, result);
    }
    return result;
}

const Operator sum_of_neighbours_op{"sum_of_neighbours(Tensor waveform, bool cyclic) -> Tensor",
                                    sum_of_neighbours_cpu, kernels::sum_of_neighbours};
const Operator clipped_running_sum_op{
    "clipped_running_sum(Tensor waveform, Tensor pedestal, Tensor rms, float clip, int[] samples) -> Tensor",
    clipped_running_sum_cpu, kernels::clipped_running_sum};

} // namespace

at::Tensor sum_of_neighbours(const at::Tensor& waveform, bool cyclic) {
    require_tensor(waveform.dim() == 3 && is_real(waveform), "sum_of_neighbours", "waveform", waveform,
                   "real (view, channel, tick)");
    return sum_of_neighbours_op(waveform, cyclic);
}

at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, const std::vector<std::int64_t>& samples) {
    require_tensor(is_real(waveform) && waveform.dim() >= 1, "clipped_running_sum", "waveform", waveform,
                   "float32 or float64 (..., channel, tick)");
    for (const auto* each : {&pedestal, &rms}) {
        require_tensor(each->defined() && each->scalar_type() == waveform.scalar_type() &&
                           each->sizes() == waveform.sizes().slice(0, waveform.dim() - 1),
                       "clipped_running_sum", "pedestal or RMS", *each,
                       "(..., channel), type of the waveform");
    }
    require_argument(!samples.empty(), "clipped_running_sum", "lengths", 0, "at least one length");
    for (const std::int64_t length : samples) {
        require_argument(length % 2 == 1 && length > 0, "clipped_running_sum", "samples", length,
                         "an odd number");
    }
    return clipped_running_sum_op(waveform, pedestal, rms, clip, samples);
}

void LongPulses::configured() {
    for (const auto samples : config().samples) {
        if (samples % 2 == 0) {
            reject("samples", std::to_string(samples), "odd lengths, so that the sums are centred");
        }
    }
}

Ports LongPulses::process(const Ports& inputs) {
    const auto noise_of = [&](const at::Tensor& images) {
        return robust_noise(images.slice(-1, 0, std::nullopt, config().stride), config().cut);
    };
    NamedTensor loose = inputs[0]->only();
    {
        NVTX_SCOPED_RANGE("LongPulses::neighbours");
        loose.name = "loose";
        loose.data = sum_of_neighbours(loose.data, config().cyclic);
        const ChannelNoise noise = noise_of(loose.data);
        loose.summary = noise.rms;
        loose.pedestal = noise.median;
    }
    NVTX_SCOPED_RANGE("LongPulses::running_sum");
    const at::Tensor sums =
        clipped_running_sum(loose.data, loose.pedestal, loose.summary, config().clip, config().samples);
    const ChannelNoise noise = noise_of(sums);
    std::vector<NamedTensor> images;
    for (std::size_t i = 0; i < config().samples.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        NamedTensor image = loose;
        image.name = "long" + std::to_string(config().samples[i]);
        image.unit = "sigma";
        image.data = sums[index];
        image.summary = noise.rms[index];
        image.pedestal = noise.median[index];
        images.push_back(std::move(image));
    }
    images.push_back(std::move(loose));
    return output_of(inputs[0], std::move(images));
}

} // namespace spng
