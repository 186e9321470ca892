// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/impact_response.h"

#include "spng/detector/wire_average.h"
#include "tests/detector/detector_files.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>

#include <gtest/gtest.h>

namespace spng::test {
namespace {

const FieldResponse& nominal() {
    static const FieldResponse response = load_field_response(data_file("dune-garfield-1d565.json.gz"));
    return response;
}

TEST(ImpactResponse, ten_intervals_in_each_of_21_regions) {
    const ImpactResponse response = impact_response(nominal(), 2, {}, {});
    EXPECT_EQ(response.kernel.sizes(), (std::vector<std::int64_t>{21, 11, 300}));
    EXPECT_EQ(response.bins, 10);
}

TEST(ImpactResponse, sides_are_mirror_images) {
    const at::Tensor kernel = impact_response(nominal(), 0, {}, {}).kernel;
    EXPECT_LT((kernel - kernel.flip({0, 1})).abs().max().item<double>(), 1e-15);
}

/// Collected charge belongs to the wire of the region, up to its edges.
TEST(ImpactResponse, edges_belong_to_their_region) {
    const at::Tensor charge = impact_response(nominal(), 2, {}, {}).kernel.sum(-1);
    const double full = charge[10][5].item<double>();
    EXPECT_NEAR(charge[10][0].item<double>(), full, 0.05 * full);
    EXPECT_NEAR(charge[10][10].item<double>(), full, 0.05 * full);
    EXPECT_LT(std::abs(charge[9][10].item<double>()), 0.05 * full);
    EXPECT_LT(std::abs(charge[11][0].item<double>()), 0.05 * full);
}

/// The response to evenly spread charge equals the average over the region, as in the deconvolution. A
/// position has the weight of the interval half-way to its neighbours; at an edge the deconvolution uses the
/// mean of both regions.
TEST(ImpactResponse, average_is_the_response_of_the_deconvolution) {
    for (int plane = 0; plane < 3; ++plane) {
        const at::Tensor kernel = impact_response(nominal(), plane, {}, {}).kernel;
        const at::Tensor average =
            response_kernel(average_over_wires(nominal().plane(plane)), nominal().period, {}, {});
        const double scale = average.abs().max().item<double>();
        for (int region = 1; region < 20; ++region) {
            const at::Tensor edges =
                kernel[region][0] + kernel[region - 1][10] + kernel[region][10] + kernel[region + 1][0];
            const at::Tensor mean = kernel[region].narrow(0, 1, 9).sum(0) / 10 + edges / 40;
            EXPECT_LT((mean - average[region]).abs().max().item<double>(), 1e-9 * scale)
                << plane << " " << region;
        }
    }
}

TEST(ImpactResponse, irregular_positions_are_rejected) {
    FieldResponse field = nominal();
    field.planes[0].pitch_positions[7] += 0.03 * field.planes[0].pitch;
    const Error shifted = error_of([&] { impact_response(field, field.planes[0].ident, {}, {}); });
    EXPECT_EQ(shifted.kind(), ErrorKind::Configuration);
    field = nominal();
    field.planes[0].pitch_positions.pop_back();
    const Error missing = error_of([&] { impact_response(field, field.planes[0].ident, {}, {}); });
    EXPECT_NE(missing.text().seen.find("125"), std::string::npos);
}

} // namespace
} // namespace spng::test
