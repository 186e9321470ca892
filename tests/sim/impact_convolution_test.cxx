// SPDX-License-Identifier: Apache-2.0
// The operator against the sum in its definition, and against the response of one electron.

#include "spng/nodes/sim/signal/impact_convolution.h"

#include "spng/nodes/sim/signal/impact_response.h"
#include "tests/core/nothing_waits.h"
#include "tests/detector/detector_files.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>

#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <gtest/gtest.h>

#include <random>

namespace spng::test {
namespace {

/// Seven slots with a gap at slot 3, read by four channels; two of them have two wires.
ReadoutPlane small_plane() {
    ReadoutPlane plane;
    plane.row = {0, 1, 2, -1, 3, 2, 0};
    plane.rows = {0, 1, 2, 3};
    plane.first_wire = {0, 2, 3, 5, 6};
    plane.wires = {0, 6, 1, 2, 5, 4};
    return plane;
}

constexpr std::int64_t first_tick = -9;
constexpr std::int64_t ticks = 40;

ChargeImage small_image() {
    ChargeSpots spots;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> slot(-0.4, 6.4);
    std::uniform_real_distribution<double> tick(first_tick, ticks);
    for (int i = 0; i < 60; ++i) {
        spots.wire.push_back(slot(random));
        spots.wire_sigma.push_back(0.3);
        spots.tick.push_back(tick(random));
        spots.tick_sigma.push_back(1.5);
        spots.electrons.push_back(1 + i);
    }
    return bin_charge(
        spots, small_plane().exists(),
        {.bins = 2, .interpolate = true, .nsigma = 3, .first_tick = first_tick, .ticks = ticks - first_tick});
}

at::Tensor small_kernel() {

    return at::randn({5, 3, 9}, at::make_generator<at::CPUGeneratorImpl>(5), at::kDouble);
}

/// Compute the sum of impact_convolution.h term by term.
at::Tensor by_definition(const ChargeImage& image, const ReadoutPlane& plane, const at::Tensor& kernel) {
    at::Tensor result = at::zeros({static_cast<std::int64_t>(plane.rows.size()), ticks}, at::kDouble);
    auto out = result.accessor<double, 2>();
    const auto response = kernel.accessor<double, 3>();
    for (std::int64_t wire = 0; wire < plane.slots(); ++wire) {
        for (std::int64_t k = 0; plane.row[static_cast<std::size_t>(wire)] >= 0 && k < kernel.size(0); ++k) {
            const std::int64_t slot = wire + k - kernel.size(0) / 2;
            for (std::int64_t at = 0;
                 slot >= 0 && slot < plane.slots() && at < static_cast<std::int64_t>(image.runs.size());
                 ++at) {
                if (at < image.first_run[static_cast<std::size_t>(slot)] ||
                    at >= image.first_run[static_cast<std::size_t>(slot) + 1]) {
                    continue;
                }
                const ChargeRun& run = image.runs[static_cast<std::size_t>(at)];
                for (std::int64_t i = 0; i < run.length; ++i) {
                    for (std::int64_t s = 0; s < kernel.size(2); ++s) {
                        const std::int64_t tick = run.tick + i + s + first_tick;
                        if (tick >= 0 && tick < ticks) {
                            out[plane.row[static_cast<std::size_t>(wire)]][tick] +=
                                response[k][run.row][s] *
                                image.electrons[static_cast<std::size_t>(run.offset) + i];
                        }
                    }
                }
            }
        }
    }
    return result;
}

double largest_difference(const at::Tensor& seen, const at::Tensor& expected) {
    return ((seen - expected).abs().max() / expected.abs().max()).item<double>();
}

TEST(ImpactConvolution, is_the_sum_of_its_definition) {
    const ChargeImage image = small_image();
    const ReadoutPlane plane = small_plane();
    const at::Tensor expected = by_definition(image, plane, small_kernel());
    const auto convolution = make_impact_convolution(plane, small_kernel(), 0, at::kCPU, at::kDouble);
    EXPECT_LT(largest_difference(impact_convolution(image, convolution, first_tick, ticks), expected), 1e-13);
    const auto single = make_impact_convolution(plane, small_kernel(), 0, at::kCPU, at::kFloat);
    EXPECT_LT(largest_difference(impact_convolution(image, single, first_tick, ticks), expected), 1e-5);
}

TEST(ImpactConvolution, composite_is_the_same) {
    ChargeImage image = small_image();
    const auto plane = make_impact_convolution(small_plane(), small_kernel(), 0, at::kCPU, at::kDouble);
    const auto view = [](auto& list, at::IntArrayRef shape, at::ScalarType type) {
        return at::from_blob(list.data(), shape, type);
    };
    const auto runs = static_cast<std::int64_t>(image.runs.size());
    const auto composed = [&] {
        const testing::NothingWaits watched;
        return impact_convolution_composite(
            view(image.electrons, {static_cast<std::int64_t>(image.electrons.size())}, at::kFloat),
            view(image.runs, {runs, 4}, at::kInt),
            view(image.first_run, {static_cast<std::int64_t>(image.first_run.size())}, at::kInt),
            plane.kernel, plane.first_wire, plane.wires, first_tick, ticks);
    };
    const at::Tensor seen = composed();
    EXPECT_LT(largest_difference(seen, impact_convolution(image, plane, first_tick, ticks)), 1e-13);
}

TEST(ImpactConvolution, negligible_samples_are_dropped) {
    at::Tensor kernel = small_kernel();
    kernel.select(2, 8).mul_(1e-7);
    const auto kept = make_impact_convolution(small_plane(), kernel, 1e-5, at::kCPU, at::kDouble).kernel;
    EXPECT_TRUE(kept.select(2, 8).eq(0).all().item<bool>());
    EXPECT_TRUE(kept.narrow(2, 0, 8).equal(kernel.narrow(2, 0, 8)));
}

TEST(ImpactConvolution, threads_do_not_change_the_result) {
    const ChargeImage image = small_image();
    const auto plane = make_impact_convolution(small_plane(), small_kernel(), 0, at::kCPU, at::kFloat);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const at::Tensor serial = impact_convolution(image, plane, first_tick, ticks);
    at::set_num_threads(3);
    EXPECT_TRUE(serial.equal(impact_convolution(image, plane, first_tick, ticks)));
    at::set_num_threads(threads);
}

/// q electrons at the centre of a wire and within one tick give q times the response of the centre on every
/// wire.
TEST(ImpactConvolution, a_point_gives_the_response) {
    const FieldResponse field = load_field_response(data_file("dune-garfield-1d565.json.gz"));
    ReadoutPlane wires;
    for (std::int32_t wire = 0; wire < 31; ++wire) {
        wires.row.push_back(wire);
        wires.rows.push_back(wire);
        wires.wires.push_back(wire);
        wires.first_wire.push_back(wire);
    }
    wires.first_wire.push_back(31);
    for (int plane = 0; plane < 3; ++plane) {
        const ImpactResponse response = impact_response(field, plane, {}, {});
        const std::int64_t length = response.kernel.size(2);
        const ChargeImage image = bin_charge({{15.0}, {0.0}, {7.5}, {0.0}, {2e4}}, wires.exists(),
                                             {.bins = response.bins,
                                              .interpolate = true,
                                              .nsigma = 3,
                                              .first_tick = -length,
                                              .ticks = 500 + length});
        const auto convolution = make_impact_convolution(wires, response.kernel, 1e-6, at::kCPU, at::kDouble);
        const at::Tensor seen = impact_convolution(image, convolution, -length, 500);
        const double peak = response.kernel.abs().max().item<double>();
        for (std::int64_t region = 0; region < 21; ++region) {
            // The electrons are `region - 10` wires above wire 25 - region.
            const at::Tensor expected = response.kernel[region][response.bins / 2] * 2e4;
            const at::Tensor on_wire = seen[25 - region].narrow(0, 7, length);
            EXPECT_LT((on_wire - expected).abs().max().item<double>(), 2e4 * peak * 2e-6)
                << plane << " " << region;
        }
        EXPECT_EQ(seen[2].abs().max().item<double>(), 0) << "thirteen wires away";
    }
}

} // namespace
} // namespace spng::test
