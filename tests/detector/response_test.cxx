// SPDX-License-Identifier: Apache-2.0
// Golden numbers of docs/physics-notes.md#frer-spectrum, computed by an independent NumPy program from the
// same files.

#include "spng/detector/electronics/electronics_response.h"
#include "spng/detector/field_response.h"
#include "spng/detector/response_kernel.h"
#include "spng/detector/wire_average.h"

#include "spng/core/error.h"
#include "tests/detector/detector_files.h"
#include "tests/support/paths.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace {

using namespace spng;

const FieldResponse& nominal() {
    static const FieldResponse response = load_field_response(test::data_file("dune-garfield-1d565.json.gz"));
    return response;
}

at::Tensor nominal_kernel(int plane, AverageMode mode = AverageMode::rounded) {
    return response_kernel(average_over_wires(nominal().plane(plane), mode), nominal().period, {}, {});
}

double total(const at::Tensor& tensor) {
    return tensor.sum().item<double>();
}

at::Tensor centre(const at::Tensor& rows) {
    return rows[rows.size(0) / 2];
}

/// Compare with a golden value within its rounding error, half a unit of its last digit.
void expect_golden(double value, double golden, double last_digit) {
    EXPECT_NEAR(value, golden, 0.5 * last_digit + 1e-4 * std::abs(golden));
}

TEST(FieldResponse, NominalFile) {
    EXPECT_EQ(nominal().period, 100.0) << "99.998998998999 in the file";
    EXPECT_EQ(nominal().origin, 100.0);
    EXPECT_EQ(nominal().speed, 0.001565);
    ASSERT_EQ(nominal().planes.size(), 3U);
    for (const PlaneResponse& plane : nominal().planes) {
        EXPECT_EQ(plane.pitch, 4.71);
        EXPECT_EQ(plane.pitch_positions.size(), 126U);
        EXPECT_EQ(plane.current.sizes(), (std::vector<std::int64_t>{126, 1000}));
    }
    EXPECT_THROW(nominal().plane(3), Error);
}

TEST(FieldResponse, PathsWithoutCurrentGetThatOfTheNearest) {
    const auto path_at = [](double position, std::vector<double> current) {
        return nlohmann::json{
            {"PathResponse", {{"pitchpos", position}, {"current", {{"array", {{"elements", current}}}}}}}};
    };
    const nlohmann::json plane{{"planeid", 2},
                               {"pitch", 5.0},
                               {"paths", nlohmann::json::array({path_at(-2.5, {1, 2}), path_at(-0.5, {3, 4}),
                                                                path_at(0, {0, 0}), path_at(2.5, {0, 5})})}};
    const std::string file = test::temporary_folder("field") / "field.json";
    std::ofstream(file) << nlohmann::json{
        {"FieldResponse",
         {{"origin", 100.0},
          {"speed", 1e-3},
          {"period", 100.0},
          {"tstart", 0.0},
          {"planes", nlohmann::json::array({{{"PlaneResponse", plane}}})}}}};
    EXPECT_TRUE(load_field_response(file).plane(2).current.equal(
        at::tensor({1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 0.0, 5.0}, at::kDouble).view({4, 2})));
}

TEST(WireAverage, GoldenIntegrals) {
    const double integral[] = {0.04356, 0.01414, -0.99384};
    for (int plane = 0; plane < 3; ++plane) {
        const at::Tensor average = average_over_wires(nominal().plane(plane));
        ASSERT_EQ(average.sizes(), (std::vector<std::int64_t>{21, 1000}));
        expect_golden(total(average) * nominal().period, integral[plane], 1e-5);
    }
    expect_golden(total(centre(average_over_wires(nominal().plane(2)))) * 100, -0.95227, 1e-5);
}

TEST(WireAverage, GoldenIntegralsOfExistingPrograms) {
    const double integral[] = {0.0435, 0.0141, -0.9889};
    for (int plane = 0; plane < 3; ++plane) {
        const at::Tensor average = average_over_wires(nominal().plane(plane), AverageMode::compat);
        ASSERT_EQ(average.size(0), 21);
        expect_golden(total(average) * 100, integral[plane], 1e-4);
    }
    expect_golden(total(centre(average_over_wires(nominal().plane(2), AverageMode::compat))) * 100, -0.9472,
                  1e-4);
}

TEST(WireAverage, SymmetricAndCompleteForAnySpacingOfPositions) {
    // A response that is 1 everywhere has the average 1 in each region, for any positions.
    for (const int steps : {2, 5, 10, 7}) {
        PlaneResponse plane{.ident = 0, .pitch = 3.0, .pitch_positions = {}, .current = {}};
        for (int wire = -3; wire <= 3; ++wire) {
            for (int step = 0; step <= steps; ++step) {
                plane.pitch_positions.push_back(3.0 * (wire - 0.5 + 0.5 * step / steps));
            }
        }
        plane.current =
            at::full({static_cast<std::int64_t>(plane.pitch_positions.size()), 4}, 1.0, at::kDouble);
        const at::Tensor average = average_over_wires(plane);
        ASSERT_EQ(average.sizes(), (std::vector<std::int64_t>{7, 4}));
        EXPECT_TRUE(average.allclose(at::full({7, 4}, 1.0, at::kDouble), 1e-12, 1e-12));
    }
}

TEST(WireAverage, StraightLineByHand) {
    // Positions -1.5, -1, -0.5, 0, 0.5, 1, 1.5 pitches with R = |position|. Intervals are half a pitch wide;
    // those of -0.5 and 0.5 extend over a border of regions. Centre: 0 x 1/2 + 2 x 0.5 x 1/4 = 0.25. Next:
    // 0.5 x 1/4 + 1 x 1/2 + 1.5 x 1/4 = 1.
    PlaneResponse plane{
        .ident = 0, .pitch = 2.0, .pitch_positions = {}, .current = at::zeros({7, 1}, at::kDouble)};
    for (int index = 0; index < 7; ++index) {
        const double position = 0.5 * (index - 3);
        plane.pitch_positions.push_back(2.0 * position);
        plane.current[index][0] = std::abs(position);
    }
    const at::Tensor average = average_over_wires(plane);
    EXPECT_TRUE(average.allclose(at::tensor({1.0, 0.25, 1.0}, at::kDouble).view({3, 1})));
}

TEST(ElectronicsResponse, GoldenPeak) {
    const at::Tensor response = sample_electronics_response({}, 100, 500);
    expect_golden(response.max().item<double>(), 13.995, 1e-3);
    EXPECT_EQ(response.argmax().item<std::int64_t>(), 25) << "bin centre 2.55 us";
    EXPECT_EQ(total(response.narrow(0, 100, 400).abs()), 0) << "nothing after 10 us";
    EXPECT_NEAR(electronics_response({}, 2580), 14.000, 1e-3);
    EXPECT_EQ(electronics_response({}, 0), 0);
    EXPECT_NEAR(electronics_response({.gain = 7.8, .shaping = 1100, .postgain = 2}, 1290), 15.6, 2e-3);
}

TEST(ResponseKernel, GoldenNumbers) {
    const at::Tensor kernel_u = nominal_kernel(0);
    const at::Tensor kernel_v = nominal_kernel(1);
    const at::Tensor kernel_w = nominal_kernel(2);
    for (const at::Tensor& kernel : {kernel_u, kernel_v, kernel_w}) {
        ASSERT_EQ(kernel.sizes(), (std::vector<std::int64_t>{21, 300}));
    }
    expect_golden(centre(kernel_u).max().item<double>(), 0.005730, 1e-6);
    EXPECT_EQ(centre(kernel_u).argmax().item<std::int64_t>(), 120);
    expect_golden(centre(kernel_u).min().item<double>(), -0.005329, 1e-6);
    EXPECT_EQ(centre(kernel_u).argmin().item<std::int64_t>(), 127);
    expect_golden(total(kernel_u), -0.006384, 1e-6);
    expect_golden(centre(kernel_v).max().item<double>(), 0.005585, 1e-6);
    EXPECT_EQ(centre(kernel_v).argmax().item<std::int64_t>(), 125);
    expect_golden(centre(kernel_v).min().item<double>(), -0.005555, 1e-6);
    EXPECT_EQ(centre(kernel_v).argmin().item<std::int64_t>(), 132);
    expect_golden(total(kernel_v), -0.002073, 1e-6);
    expect_golden(centre(kernel_w).max().item<double>(), 0.020822, 1e-6);
    EXPECT_EQ(centre(kernel_w).argmax().item<std::int64_t>(), 132);
    expect_golden(total(kernel_w), 0.145667, 1e-6);
}

TEST(ResponseKernel, GoldenNumbersOfExistingPrograms) {
    const at::Tensor kernel_u = nominal_kernel(0, AverageMode::compat);
    const at::Tensor kernel_v = nominal_kernel(1, AverageMode::compat);
    const at::Tensor kernel_w = nominal_kernel(2, AverageMode::compat);
    expect_golden(centre(kernel_u).max().item<double>(), 0.005680, 1e-6);
    expect_golden(centre(kernel_u).min().item<double>(), -0.005285, 1e-6);
    expect_golden(centre(kernel_v).max().item<double>(), 0.005545, 1e-6);
    expect_golden(centre(kernel_v).min().item<double>(), -0.005514, 1e-6);
    expect_golden(centre(kernel_w).max().item<double>(), 0.020663, 1e-6);
    expect_golden(total(kernel_w), 0.144935, 1e-6);
    expect_golden(kernel_w.sum(0).max().item<double>(), 0.01817, 1e-5);
}

/// Check the response of the anode whose V plane collects. The golden numbers, 0.51 for the sum of V's centre
/// row and 0.003 for the remaining peak on W, come from WCT's spng: positions are truncated, and values are
/// five times too large (docs/physics-notes.md#differences-from-existing-programs).
TEST(ResponseKernel, SecondResponseFileCollectsOnV) {
    const FieldResponse response =
        load_field_response(test::data_file("np04hd-garfield-6paths-mcmc-bestfit.json.gz"));
    const auto kernel = [&](int plane) {
        return response_kernel(average_over_wires(response.plane(plane), AverageMode::compat),
                               response.period, {}, {});
    };
    EXPECT_NEAR(5 * total(centre(kernel(1))), 0.51, 0.005);
    EXPECT_NEAR(5 * centre(kernel(2)).max().item<double>(), 0.003, 0.0005);
}

/// The sum over ticks times the tick is the integral of field response and electronics for any tick.
TEST(ResponseKernel, ChargeDoesNotDependOnTheTick) {
    const at::Tensor average = average_over_wires(nominal().plane(2));
    const double expected = total(nominal_kernel(2)) * 500;
    for (const double tick : {100.0, 400.0, 500.0, 512.0, 1000.0, 50.0}) {
        const at::Tensor kernel = response_kernel(average, 100, {}, {.tick = tick});
        EXPECT_NEAR(total(kernel) * tick / expected, 1.0, 1e-9) << tick << " ns";
        EXPECT_NEAR(kernel.size(1) * tick, 150000, 1000 * 4) << tick << " ns";
    }
    EXPECT_THROW(response_kernel(average, 100, {}, {.tick = 499.999}), Error);
    EXPECT_THROW(response_kernel(average, 100, {}, {.tick = -500}), Error);
    EXPECT_THROW(response_kernel(average, 100, {}, {.lsb = 0}), Error);
}

TEST(ResponseKernel, OtherDetectors) {
    const struct {
        const char* file;
        double origin, collected;
        std::int64_t wires, ticks;
    } detectors[] = {{"ub-10-half.json.bz2", 100, 1, 21, 300},
                     {"garfield-sbnd-v1.json.bz2", 100, 1, 21, 300},
                     {"garfield-icarus-fnal-rev1.json.bz2", 100, 1, 21, 300},
                     {"protodunevd_FR_norminal_260324.json.bz2", 181, 0.969, 21, 365}};
    for (const auto& detector : detectors) {
        SPNG_SHARED_FILE_OR_SKIP(path, detector.file);
        const FieldResponse response = load_field_response(path);
        EXPECT_EQ(response.origin, detector.origin);
        const at::Tensor average = average_over_wires(response.plane(2));
        EXPECT_NEAR(-total(average) * response.period, detector.collected, 0.03)
            << detector.file << ": an electron is collected";
        const at::Tensor kernel = response_kernel(average, response.period, {}, {});
        EXPECT_EQ(kernel.size(0), detector.wires) << detector.file;
        EXPECT_NEAR(kernel.size(1), detector.ticks, 1) << detector.file;
        EXPECT_EQ(kernel.max().item<double>(), centre(kernel).max().item<double>()) << detector.file;
    }
}

TEST(FieldResponse, OriginalBzip2FileIsTheSame) {
    SPNG_SHARED_FILE_OR_SKIP(path, "dune-garfield-1d565.json.bz2");
    const FieldResponse original = load_field_response(path);
    for (int plane = 0; plane < 3; ++plane) {
        EXPECT_TRUE(original.plane(plane).current.equal(nominal().plane(plane).current));
        EXPECT_EQ(original.plane(plane).pitch_positions, nominal().plane(plane).pitch_positions);
    }
}

TEST(FieldResponse, ErrorsNameTheLocation) {
    const auto small =
        nlohmann::json::parse(R"({"FieldResponse": {"origin": 100, "speed": 0.0016, "period": 100,
        "tstart": 0, "planes": [{"PlaneResponse": {"planeid": 0, "pitch": 3, "paths": [
            {"PathResponse": {"pitchpos": 0, "current": {"array": {"elements": [1, 2]}}}},
            {"PathResponse": {"pitchpos": 1, "current": {"array": {"elements": [1, 2]}}}}]}}]}})");
    const auto error_of = [](const nlohmann::json& document) -> std::string {
        const std::string path = spng::test::temporary_folder("field_response") / "test.json";
        std::ofstream(path) << document;
        try {
            load_field_response(path);
        } catch (const Error& error) {
            EXPECT_EQ(error.exit_status(), 2);
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(error_of(small), "");
    const nlohmann::json::json_pointer top("/FieldResponse");
    const nlohmann::json::json_pointer path = top / "planes" / 0 / "PlaneResponse" / "paths";

    auto document = small;
    document[top].erase("speed");
    EXPECT_NE(error_of(document).find("key \"speed\""), std::string::npos);
    document = small;
    document[top]["period"] = 0;
    EXPECT_NE(error_of(document).find("key \"period\""), std::string::npos);
    for (const auto& [key, value] : {std::pair{"period", 1e6}, {"speed", 1e300}, {"origin", -1e5}}) {
        document = small;
        document[top][key] = value;
        EXPECT_NE(error_of(document).find("beyond what any detector has"), std::string::npos) << key;
    }
    document = small;
    document[path][1]["PathResponse"]["pitchpos"] = 1e6; // the kernel would have 666,667 wires
    EXPECT_NE(error_of(document).find("expected: -180 to 180 mm"), std::string::npos);
    document = small;
    for (const int index : {0, 1}) {
        document[path][index]["PathResponse"]["current"]["array"]["elements"] = std::vector<double>(20001);
    }
    EXPECT_NE(error_of(document).find("paths of a plane are too long"), std::string::npos);
    document = small;
    document[path][1]["PathResponse"]["current"]["array"]["elements"] = {1, 2, 3};
    EXPECT_NE(error_of(document).find("paths[1]"), std::string::npos);
    document = small;
    document[path][1]["PathResponse"]["current"]["array"]["elements"] = {1, "2"};
    EXPECT_NE(error_of(document).find("not a number"), std::string::npos);
    document = small;
    document[path] = nlohmann::json::array();
    EXPECT_NE(error_of(document).find("no paths"), std::string::npos);
}

} // namespace
