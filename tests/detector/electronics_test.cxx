// SPDX-License-Identifier: Apache-2.0
// Golden numbers come from an independent NumPy program (tests/reference/response.py) and the same files.

#include "spng/detector/electronics/electronics_file.h"
#include "spng/detector/electronics/electronics_response.h"
#include "spng/detector/field_response.h"
#include "spng/detector/response_components.h"
#include "spng/detector/response_kernel.h"
#include "spng/detector/wire_average.h"

#include "spng/core/error.h"
#include "tests/detector/detector_files.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

namespace spng::test {
namespace {

constexpr double millivolt_per_femtocoulomb = 1.602176634e-13; // MV/e

std::string written(const nlohmann::json& samples) {
    const auto path = temporary_folder("electronics") / "samples.json";
    std::ofstream(path) << samples;
    return path.string();
}

double total(const at::Tensor& tensor) {
    return tensor.sum().item<double>();
}

TEST(WarmElectronics, PeaksAtHalfOfItsGain) {
    const Electronics electronics{
        .model = ElectronicsModel::warm, .gain = 17.05212, .shaping = 1300, .postgain = 2};
    const at::Tensor response = sample_electronics_response(electronics, 100, 500);
    EXPECT_NEAR(response.max().item<double>(), 2 * 8.343011, 1e-5);
    EXPECT_EQ(response.argmax().item<std::int64_t>(), 24) << "bin centre 2.45 us";
    EXPECT_NEAR(total(response) * 0.1, 2 * 28.574271, 1e-5);
    EXPECT_EQ(electronics_response(electronics, 10000), 0);
}

TEST(SampledElectronics, InterpolatesBetweenSamples) {
    const Electronics electronics = sampled_electronics({-100, 0, 400, 1000}, {0, 2, 10, 4}, 1.5);
    EXPECT_EQ(electronics.shaping, 400);
    EXPECT_DOUBLE_EQ(electronics_response(electronics, -100), 0);
    EXPECT_DOUBLE_EQ(electronics_response(electronics, -50), 1.5 * 1);
    EXPECT_DOUBLE_EQ(electronics_response(electronics, 100), 1.5 * 4);
    EXPECT_DOUBLE_EQ(electronics_response(electronics, 400), 1.5 * 10);
    EXPECT_DOUBLE_EQ(electronics_response(electronics, 700), 1.5 * 7);
    EXPECT_DOUBLE_EQ(electronics_response(electronics, 1000), 1.5 * 4);
    EXPECT_EQ(electronics_response(electronics, 1001), 0);
    EXPECT_EQ(electronics_response(electronics, -101), 0);
}

TEST(SampledElectronics, AnotherShapingTimeStretchesTheSamples) {
    Electronics electronics = sampled_electronics({0, 400, 1000}, {2, 10, 4}, 1);
    electronics.shaping = 800;
    EXPECT_DOUBLE_EQ(electronics_response(electronics, 800), 10);
    EXPECT_DOUBLE_EQ(electronics_response(electronics, 200), 4);
    EXPECT_EQ(electronics_response(electronics, 2001), 0);
}

TEST(JsonElecResponse, ReadsSamplesInTheUnitsOfTheToolkit) {
    const double height = 7 * millivolt_per_femtocoulomb;
    const std::string path = written({{"times", {0, 500, 1500}}, {"amplitudes", {0, height, 0}}});
    Components components;
    components.add("JsonElecResponse:top", {{"filename", path}, {"postgain", 1.36}});
    const auto& service = components.environment().service<ElecResponse>("JsonElecResponse:top", "the test");
    EXPECT_NEAR(electronics_response(service.electronics(), 500), 7 * 1.36, 1e-12);
    EXPECT_NEAR(electronics_response(service.electronics(), 1000), 3.5 * 1.36, 1e-12);
    EXPECT_DOUBLE_EQ(service.duration(), 1500);
}

TEST(JsonElecResponse, RejectsSamplesThatCannotBeAResponse) {
    const double high = 7 * millivolt_per_femtocoulomb;
    const auto seen = [](const nlohmann::json& samples) {
        return error_of([&] { load_sampled_electronics(written(samples), 1); }).text().seen;
    };
    EXPECT_EQ(seen({{"times", {0, 1}}, {"amplitudes", {high}}}), "2 times, 1 amplitudes");
    EXPECT_EQ(seen({{"times", {0}}, {"amplitudes", {high}}}), "1 times, 1 amplitudes");
    EXPECT_EQ(seen({{"times", {0, 5, 5}}, {"amplitudes", {0, high, 0}}}),
              "times that do not increase, or are beyond a second");
    EXPECT_EQ(seen({{"times", {0, 5}}, {"amplitudes", {"a", high}}}), "amplitudes has a string");
    EXPECT_EQ(seen({{"times", {0, 5}}, {"amplitudes", {high, 0}}}), "the largest sample is not after time 0");
    EXPECT_EQ(seen({{"times", {0, 5}}, {"amplitudes", {0, 7.0}}}), "a largest sample of 7.0 MV/e")
        << "mV/fC by mistake";
    EXPECT_EQ(seen({{"times", {0, 5}}, {"amplitudes", {0, -high}}}), "a largest sample of 0.0 MV/e");
    EXPECT_THROW(load_sampled_electronics(written({{"times", {0, 5}}}), 1), Error);
}

/// Return the response kernel of a plane.
at::Tensor kernel_of(const FieldResponse& field, int plane, const Electronics& electronics,
                     const ResponseKernelConfig& config) {
    return response_kernel(average_over_wires(field.plane(plane)), field.period, electronics, config);
}

TEST(SampledElectronics, GoldenKernelsAboveTheCathodeOfProtoduneVd) {
    SPNG_SHARED_FILE_OR_SKIP(path, "protodunevd_FR_norminal_260324.json.bz2");
    SPNG_SHARED_FILE_OR_SKIP(samples, "dunevd-coldbox-elecresp-top-psnorm_400.json.bz2");
    const FieldResponse field = load_field_response(path);
    const Electronics electronics = load_sampled_electronics(samples, 1.36);
    EXPECT_EQ(electronics.shaping, 1300);
    const ResponseKernelConfig config{.tick = 500, .electronics_duration = 50000, .lsb = 2.0 / 16384};
    const struct {
        double sum, highest, lowest;
    } golden[] = {{-0.0001837738, 0.007617856, -0.002692677},
                  {0.0005954713, 0.00598401, -0.003977227},
                  {0.12482096, 0.01023509, -7.310884e-07}};
    for (int plane = 0; plane < 3; ++plane) {
        const at::Tensor kernel = kernel_of(field, plane, electronics, config);
        ASSERT_EQ(kernel.sizes(), (std::vector<std::int64_t>{21, 365}));
        EXPECT_NEAR(total(kernel), golden[plane].sum, 1e-8);
        EXPECT_NEAR(kernel[10].max().item<double>(), golden[plane].highest, 1e-8);
        EXPECT_NEAR(kernel[10].min().item<double>(), golden[plane].lowest, 1e-8);
    }
}

TEST(WarmElectronics, GoldenKernelsOfIcarus) {
    SPNG_SHARED_FILE_OR_SKIP(path, "garfield-icarus-fnal-rev1.json.bz2");
    const FieldResponse field = load_field_response(path);
    const struct {
        double gain, shaping, sum, highest;
    } golden[] = {{17.05212, 1300, -0.001862573, 0.0003937122},
                  {12.6181926, 1450, -0.0003950161, 0.0003016556},
                  {13.0261362, 1300, 0.01069149, 0.001038096}};
    for (int plane = 0; plane < 3; ++plane) {
        const at::Tensor kernel = kernel_of(
            field, plane,
            {.model = ElectronicsModel::warm, .gain = golden[plane].gain, .shaping = golden[plane].shaping},
            {.tick = 400, .electronics_duration = 50000, .lsb = 3.3 / 4096});
        ASSERT_EQ(kernel.sizes(), (std::vector<std::int64_t>{21, 375}));
        EXPECT_NEAR(total(kernel), golden[plane].sum, 1e-8);
        EXPECT_NEAR(kernel[10].max().item<double>(), golden[plane].highest, 1e-8);
    }
}

} // namespace
} // namespace spng::test
