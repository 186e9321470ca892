// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/impact_convolution.h"

#include "spng/core/operator.h"
#include "spng/core/rows/multiversion.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <vector>

namespace spng {
namespace {

/// Charges of a run that are convolved together. Responses are padded with this many zeros less one on both
/// sides.
constexpr std::int64_t charges_at_once = 4;

/// Compute out[i + j] += charge[i] response[j] for all i < charges, j < length.
/// @param response  with charges_at_once - 1 zeros before and after it
template <class Real>
[[gnu::always_inline]] inline void convolve(Real* __restrict__ out, const float* charge, std::int64_t charges,
                                            const Real* __restrict__ response, std::int64_t length) {
    std::int64_t first = 0;
    for (; first + charges_at_once <= charges; first += charges_at_once) {
        const Real a = charge[first], b = charge[first + 1], c = charge[first + 2], d = charge[first + 3];
        Real* const to = out + first;
        for (std::int64_t j = 0; j < length + charges_at_once - 1; ++j) {
            to[j] += a * response[j] + b * response[j - 1] + c * response[j - 2] + d * response[j - 3];
        }
    }
    for (; first < charges; ++first) {
        const Real a = charge[first];
        Real* const to = out + first;
        for (std::int64_t j = 0; j < length; ++j) {
            to[j] += a * response[j];
        }
    }
}

/// Response, padded with zeros.
template <class Real>
struct PaddedResponse {
    std::vector<Real> samples;
    std::int64_t begin = 0; ///< first tick that is not 0
    std::int64_t length = 0;

    const Real* data() const { return samples.data() + charges_at_once - 1; }
};

template <class Real>
std::vector<PaddedResponse<Real>> padded_responses(const at::Tensor& kernel) {
    const std::int64_t ticks = kernel.size(2);
    const Real* row = kernel.const_data_ptr<Real>();
    std::vector<PaddedResponse<Real>> responses(static_cast<std::size_t>(kernel.size(0) * kernel.size(1)));
    for (auto& response : responses) {
        const auto is_set = [](Real sample) { return sample != 0; };
        const Real* const begin = std::find_if(row, row + ticks, is_set);
        const Real* end = row + ticks;
        while (end > begin && !is_set(end[-1])) {
            --end;
        }
        response.begin = begin - row;
        response.length = end - begin;
        response.samples.assign(static_cast<std::size_t>(response.length + 2 * (charges_at_once - 1)), 0);
        std::copy(begin, end, response.samples.begin() + charges_at_once - 1);
        row += ticks;
    }
    return responses;
}

/// Add the signals of one wire.
/// @param out  starts at the first tick of the image and holds the whole response to its last tick
template <class Real>
SPNG_MULTIVERSION void convolve_wire(std::int64_t wire, std::int64_t slots, const std::int32_t* first_run,
                                     const ChargeRun* runs, const float* electrons,
                                     const PaddedResponse<Real>* responses, std::int64_t regions,
                                     std::int64_t rows, Real* out) {
    for (std::int64_t region = 0; region < regions; ++region) {
        const std::int64_t slot = wire + region - regions / 2;
        if (slot < 0 || slot >= slots) {
            continue;
        }
        for (std::int32_t at = first_run[slot]; at < first_run[slot + 1]; ++at) {
            const ChargeRun& run = runs[at];
            const PaddedResponse<Real>& response = responses[region * rows + run.row];
            convolve(out + run.tick + response.begin, electrons + run.offset, run.length, response.data(),
                     response.length);
        }
    }
}

template <class Real>
at::Tensor convolve_channels(const at::Tensor& electrons, const at::Tensor& runs, const at::Tensor& first_run,
                             const at::Tensor& kernel, const at::Tensor& first_wire, const at::Tensor& wires,
                             std::int64_t first_tick, std::int64_t ticks) {
    const auto contiguous = kernel.contiguous();
    const auto responses = padded_responses<Real>(contiguous);
    const std::int64_t channels = first_wire.size(0) - 1;
    const std::int64_t slots = first_run.size(0) - 1;
    at::Tensor result = at::empty({channels, ticks}, kernel.options());
    auto* to = result.mutable_data_ptr<Real>();
    const auto* run = reinterpret_cast<const ChargeRun*>(runs.const_data_ptr<std::int32_t>());
    const auto* run_of = first_run.const_data_ptr<std::int32_t>();
    const auto* charge = electrons.const_data_ptr<float>();
    const auto* wire_of = first_wire.const_data_ptr<std::int32_t>();
    const auto* wire = wires.const_data_ptr<std::int32_t>();
    // The image starts before the readout, at first_tick <= 0, and ends with it.
    const std::int64_t image_ticks = ticks - first_tick;
    at::parallel_for(0, channels, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<Real> out(static_cast<std::size_t>(image_ticks + kernel.size(2) + 2 * charges_at_once));
        for (std::int64_t channel = begin; channel < end; ++channel) {
            std::fill(out.begin(), out.end(), Real{0});
            for (std::int32_t at = wire_of[channel]; at < wire_of[channel + 1]; ++at) {
                convolve_wire(wire[at], slots, run_of, run, charge, responses.data(), kernel.size(0),
                              kernel.size(1), out.data());
            }
            std::copy_n(out.begin() - first_tick, ticks, to + channel * ticks);
        }
    });
    return result;
}

at::Tensor impact_convolution_cpu(const at::Tensor& electrons, const at::Tensor& runs,
                                  const at::Tensor& first_run, const at::Tensor& kernel,
                                  const at::Tensor& first_wire, const at::Tensor& wires,
                                  std::int64_t first_tick, std::int64_t ticks) {
    if (kernel.scalar_type() == at::kDouble) {
        return convolve_channels<double>(electrons, runs, first_run, kernel, first_wire, wires, first_tick,
                                         ticks);
    }
    return convolve_channels<float>(electrons, runs, first_run, kernel, first_wire, wires, first_tick, ticks);
}

at::Tensor view_of(const std::vector<std::int32_t>& list) {
    return at::from_blob(const_cast<std::int32_t*>(list.data()), {static_cast<std::int64_t>(list.size())},
                         at::kInt);
}

const Operator impact_convolution_op{
    "impact_convolution(Tensor electrons, Tensor runs, Tensor first_run, Tensor kernel, Tensor first_wire, "
    "Tensor wires, int first_tick, int ticks) -> Tensor",
    impact_convolution_cpu, impact_convolution_composite};

} // namespace

ImpactConvolution make_impact_convolution(const ReadoutPlane& plane, const at::Tensor& kernel,
                                          double negligible, at::Device device, at::ScalarType type) {
    require_tensor(is_real(kernel) && kernel.dim() == 3 && kernel.size(0) % 2 == 1, "make_impact_convolution",
                   "kernel", kernel, "real (region, row, tick), an odd number of regions");
    const at::Tensor magnitude = kernel.abs();
    const at::Tensor kept = at::where(magnitude >= magnitude.max() * negligible, kernel, 0.0);
    return {kept.to(device, type), view_of(plane.first_wire).clone(), view_of(plane.wires).clone()};
}

at::Tensor impact_convolution(const ChargeImage& image, const ImpactConvolution& plane,
                              std::int64_t first_tick, std::int64_t ticks) {
    require_argument(first_tick <= 0, "impact_convolution", "first tick", first_tick, "0 or earlier");
    const at::Tensor electrons =
        at::from_blob(const_cast<float*>(image.electrons.data()),
                      {static_cast<std::int64_t>(image.electrons.size())}, at::kFloat);
    static_assert(sizeof(ChargeRun) == 4 * sizeof(std::int32_t));
    const at::Tensor runs = at::from_blob(const_cast<ChargeRun*>(image.runs.data()),
                                          {static_cast<std::int64_t>(image.runs.size()), 4}, at::kInt);
    return impact_convolution_op(electrons, runs, view_of(image.first_run), plane.kernel, plane.first_wire,
                                 plane.wires, first_tick, ticks);
}

} // namespace spng
