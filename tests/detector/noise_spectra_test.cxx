// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/noise/noise_spectra.h"

#include "spng/core/error.h"
#include "tests/detector/detector_files.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace {

using namespace spng;

TEST(NoiseSpectra, ProtoduneHd) {
    const auto spectra = load_noise_spectra(test::data_file("protodunehd-noise-spectra-14mVfC-v1.json.bz2"));
    ASSERT_EQ(spectra.size(), 8U);
    EXPECT_EQ(spectra[0].plane, 0);
    EXPECT_EQ(spectra[0].wire_length, 7350.0);
    EXPECT_EQ(spectra[0].period, 512.0);
    EXPECT_EQ(spectra[0].sample_count, 6000);
    EXPECT_EQ(spectra[0].shaping, 2200.0);
    EXPECT_NEAR(spectra[0].gain, 14e-9 / 1e-15 * 1.602176634e-19, 1e-18) << "14 mV/fC in MV per electron";
    EXPECT_EQ(spectra[0].frequency.size(), 109U);
    EXPECT_EQ(spectra[7].plane, 2);
    EXPECT_EQ(load_noise_spectra(test::data_file("protodunehd-noise-spectra-7d8mVfC-v1.json.bz2")).size(),
              8U);
}

TEST(NoiseSpectra, OtherDetectorsLoad) {
    for (const char* file :
         {"protodune-noise-spectra-v1.json.bz2", "microboone-noise-spectra-v2.json.bz2",
          "sbnd-noise-spectra-v1.json.bz2", "pdvd-bottom-noise-spectra-7d8mVfC-v1.json.bz2",
          "pdvd-top-noise-spectra-v3.json.bz2", "icarus_noise_model_int_TPCEE.json.bz2"}) {
        SPNG_SHARED_FILE_OR_SKIP(path, file);
        EXPECT_FALSE(load_noise_spectra(path).empty()) << file;
    }
}

TEST(NoiseSpectra, ErrorsNameTheSpectrum) {
    const auto good =
        nlohmann::json::parse(R"([{"period": 500, "nsamples": 10, "gain": 1, "shaping": 2200, "plane": 0,
        "wirelen": 1, "const": 0, "freqs": [0, 0.1], "amps": [1, 2]}])");
    const auto error_of = [](const nlohmann::json& document) -> std::string {
        const std::string path = spng::test::temporary_folder("noise_spectra") / "test.json";
        std::ofstream(path) << document;
        try {
            load_noise_spectra(path);
        } catch (const Error& error) {
            EXPECT_EQ(error.exit_status(), 2);
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(error_of(good), "");
    const auto with = [&](const char* key, const nlohmann::json& value) {
        auto document = good;
        document[0][key] = value;
        return error_of(document);
    };
    EXPECT_NE(with("freqs", {0.1, 0.1}).find("increase"), std::string::npos);
    EXPECT_NE(with("amps", {1}).find("1 amps"), std::string::npos);
    EXPECT_NE(with("amps", {1, -1}).find("negative"), std::string::npos);
    EXPECT_NE(with("amps", {1, "x"}).find("has a string"), std::string::npos);
    EXPECT_NE(with("period", 0).find("period"), std::string::npos);
    EXPECT_NE(with("nsamples", 1e300).find("expected: 1 to 1e+08 samples"), std::string::npos);
    EXPECT_NE(with("plane", "U").find("spectra[0], key \"plane\""), std::string::npos);
    EXPECT_NE(error_of(nlohmann::json::array()).find("empty list"), std::string::npos);
    EXPECT_NE(error_of(nlohmann::json::object()).find("a list of spectra"), std::string::npos);
}

} // namespace
