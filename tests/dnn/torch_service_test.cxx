// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/torch_service.h"

#include "spng/core/log/log.h"
#include "spng/io/data_path.h"
#include "spng/nodes/dnn/accepted_models.h"
#include "tests/dnn/script_model.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

namespace spng {
namespace {

using nlohmann::json;

class TorchServiceTest : public testing::Test {
protected:
    /// Return the prepared service of a job with images (view, channel, tick) = (1, 5, 30).
    const TorchService& service(json more = json::object()) {
        json data{{"model", file().string()}, {"probe", {1, 5, 30}}};
        data.update(more);
        m_components.add("SPNGTorchService:dnnroi", data);
        return m_components.environment().service<TorchService>("SPNGTorchService:dnnroi", "test");
    }
    Error error(const json& more = json::object()) {
        return test::error_of([&] { service(more); });
    }
    std::filesystem::path folder() const { return m_folder; }
    std::filesystem::path file() const { return m_folder / "network.ts"; }

private:
    std::filesystem::path m_folder = test::temporary_folder("torch_service");
    test::Components m_components;
};

TEST_F(TorchServiceTest, AppliesTheNetwork) {
    test::save_weighted_sum(file(), 1, 2, 4);
    auto features = at::zeros({1, 3, 5, 30});
    features[0][0][4][29] = 0.25;
    features[0][1][0][0] = 1;
    features[0][2][3][16] = 0.5;
    auto expected = at::zeros({1, 5, 30});
    expected[0][4][29] = 0.25;
    expected[0][0][0] = 2;
    expected[0][3][16] = 2;
    EXPECT_TRUE(at::equal(service().forward(features), expected));
}

/// Restores that every network is accepted.
class AcceptedModelsTest : public TorchServiceTest {
protected:
    std::filesystem::path list_of(const std::string& text) const {
        std::ofstream(folder() / "models.sha256") << text;
        return folder() / "models.sha256";
    }
    ~AcceptedModelsTest() override { accept_all_models(); }
};

TEST_F(AcceptedModelsTest, AnUnlistedNetworkIsNotLoaded) {
    test::save_weighted_sum(file(), 1, 2, 4);
    accept_only_models(shipped_models);
    const auto seen = error();
    EXPECT_EQ(seen.kind(), ErrorKind::Model);
    EXPECT_EQ(seen.text().what, "a network is not in the list of accepted ones");
    EXPECT_NE(seen.text().expected.find("data/SHA256SUMS"), std::string::npos) << seen.what();
}

TEST_F(AcceptedModelsTest, AListedNetworkIsLoaded) {
    test::save_weighted_sum(file(), 1, 2, 4);
    const std::string checksum = identify_data_file("model", file()).sha256;
    accept_only_models(list_of("# ours\n" + checksum + "  any-name.ts\n").string());
    EXPECT_EQ(service().features().size(), 3U);
}

TEST_F(AcceptedModelsTest, TheNameInTheListDoesNotCount) {
    test::save_weighted_sum(file(), 1, 2, 4);
    const std::string checksum = identify_data_file("model", file()).sha256;
    accept_only_models(list_of(checksum.substr(1) + "0  network.ts\n").string());
    EXPECT_EQ(error().text().seen, "SHA-256 " + checksum);
}

TEST_F(AcceptedModelsTest, AListWithoutChecksumsIsAUsageError) {
    const auto path = list_of("dnnroi.ts\n");
    EXPECT_EQ(test::error_of([&] { accept_only_models(path.string()); }).text().seen, "no checksum");
    EXPECT_EQ(test::error_of([&] { accept_only_models("nofile"); }).kind(), ErrorKind::Usage);
}

TEST_F(TorchServiceTest, MissingModel) {
    const auto seen = error();
    EXPECT_EQ(seen.kind(), ErrorKind::Model);
    EXPECT_NE(std::string(seen.what()).find("network.ts"), std::string::npos) << seen.what();
    EXPECT_NE(seen.text().where.find("SPNGTorchService:dnnroi, key model"), std::string::npos) << seen.what();
}

TEST_F(TorchServiceTest, FeaturesInAnotherOrder) {
    test::save_weighted_sum(file(), 1, 1, 1, R"({"inputs": ["loose", "mp3", "mp2"]})");
    const auto seen = error({{"features", {"loose", "mp2", "mp3"}}});
    EXPECT_EQ(seen.kind(), ErrorKind::Model);
    EXPECT_EQ(seen.text().seen, "loose, mp2, mp3");
    EXPECT_EQ(seen.text().expected, "loose, mp3, mp2");
}

TEST_F(TorchServiceTest, FewerFeaturesThanTheNetworkNeeds) {
    test::save_weighted_sum(file(), 1, 1, 1);
    const auto seen = error({{"features", {"loose", "mp2"}}});
    EXPECT_EQ(seen.kind(), ErrorKind::Model);
    EXPECT_NE(seen.text().seen.find("to have 3 channels, but got 2 channels"), std::string::npos)
        << seen.what();
}

TEST_F(TorchServiceTest, NetworkWithSeveralOutputs) {
    test::save_script_model(file(), "def forward(self, x):\n    return x\n");
    const auto seen = error();
    EXPECT_EQ(seen.kind(), ErrorKind::Model);
    EXPECT_NE(seen.text().seen.find("(1, 3, 16, 32)"), std::string::npos) << seen.what();
    EXPECT_NE(seen.text().expected.find("(1, 1, 16, 32)"), std::string::npos) << seen.what();
}

TEST_F(TorchServiceTest, MetadataOverrideTheConfiguration) {
    test::save_script_model(file(), // this network checks its input
                            "def forward(self, x):\n"
                            "    assert x.size(2) == 32 and x.size(3) == 8, 'wrong size'\n"
                            "    return x[:, 0:1]\n",
                            {}, R"({"transpose": true, "multiple": 8})");
    auto features = at::zeros({1, 3, 5, 30});
    features[0][0][2][7] = 1;
    const auto out = service({{"multiple", 16}}).forward(features);
    EXPECT_EQ(out[0][2][7].item<float>(), 1);
    EXPECT_EQ(out.sum().item<float>(), 1);
}

/// Return the errors of a network that takes inputs of one length only: of its preparation, and of an event of 300 ticks. Empty:
/// none.
std::pair<std::string, std::string> errors_of_length(const std::filesystem::path& file, int ticks,
                                                     const std::string& metadata) {
    test::save_script_model(file,
                            "def forward(self, x):\n    assert x.size(3) == " + std::to_string(ticks) +
                                ", 'wrong size'\n    return x[:, 0:1]\n",
                            {}, metadata);
    test::Components components;
    components.add("SPNGTorchService:one", json{{"model", file.string()}, {"probe", {1, 5, 300}}});
    const TorchService* network = nullptr;
    try {
        network = &components.environment().service<TorchService>("SPNGTorchService:one", "test");
    } catch (const Error& error) {
        return {error.what(), {}};
    }
    try {
        network->forward(at::zeros({1, 3, 5, 300}));
        return {};
    } catch (const Error& error) {
        return {{}, error.what()};
    }
}

TEST_F(TorchServiceTest, IsTriedOnAPieceIfItsFileSaysWhichLengthsItTakes) {
    const auto [at_start, at_event] = errors_of_length(file(), 64, R"({"multiple": 16})");
    EXPECT_EQ(at_start, "");
    EXPECT_NE(at_event.find("wrong size"), std::string::npos) << at_event;
}

TEST_F(TorchServiceTest, IsTriedOnTheWholeReadoutOtherwise) {
    EXPECT_NE(errors_of_length(file(), 64, "").first.find("wrong size"), std::string::npos);
    for (const char* const metadata : {"", R"({"multiple": 16})"}) { // the second fails with a piece
        const auto [at_start, at_event] = errors_of_length(file(), 304, metadata);
        EXPECT_EQ(at_start + at_event, "") << metadata;
    }
    EXPECT_NE(errors_of_length(file(), 1, R"({"multiple": 16})").first.find("wrong size"), std::string::npos);
}

TEST_F(TorchServiceTest, FeaturesAreThoseOfTheFileUnlessGiven) {
    test::save_weighted_sum(file(), 1, 1, 1, R"({"inputs": ["loose", "tight", "mp3"]})");
    EXPECT_EQ(service().features(), (std::vector<std::string>{"loose", "tight", "mp3"}));
}

TEST_F(TorchServiceTest, FeaturesOfAFileWithoutMetadata) {
    test::save_weighted_sum(file(), 1, 1, 1);
    EXPECT_EQ(service().features(), (std::vector<std::string>{"loose", "mp2", "mp3"}));
}

TEST_F(TorchServiceTest, ProbeNeedsThreeNumbers) {
    EXPECT_EQ(error({{"probe", {800, 1500}}}).kind(), ErrorKind::Configuration);
}

class StandIn : public TorchServiceTest {
protected:
    json standin(json more = json::object()) const {
        json data{{"model", "dnnroi-standin.ts"}, {"probe", {2, 6, 48}}};
        data.update(more);
        return data;
    }
};

TEST_F(StandIn, GivesTheLogisticFunctionOfItsThresholds) {
    const TorchService& network = service(standin());
    // Charge in units of 4000 electrons; threshold 0.75, or 0.4 where another plane confirms;
    // steepness 20.
    const struct {
        double charge, mp2, mp3, expected;
    } cases[] = {{1, 0, 0, 1 / (1 + std::exp(-5.))},
                 {0.5, 0, 0, 1 / (1 + std::exp(5.))},
                 {0.5, 0, 1, 1 / (1 + std::exp(-2.))},
                 {0.5, 1, 0, 1 / (1 + std::exp(-2.))},
                 {0.25, 1, 1, 1 / (1 + std::exp(3.))}};
    for (const auto& one : cases) {
        auto features = at::zeros({2, 3, 6, 48});
        features.select(1, 0).fill_(one.charge);
        features.select(1, 1).fill_(one.mp2);
        features.select(1, 2).fill_(one.mp3);
        EXPECT_NEAR(network.forward(features)[1][3][24].item<double>(), one.expected, 1e-6);
    }
}

TEST_F(StandIn, IsReported) {
    const auto log_file = folder() / "log";
    log::add_sink(log_file.string() + ":warn");
    const TorchService& network = service(standin());
    log::reset();
    EXPECT_EQ(network.notes().at("model"), "dnnroi-standin.ts");
    EXPECT_TRUE(network.notes().contains("stand-in"));
    const json metadata = json::parse(network.notes().at("model_metadata"));
    EXPECT_EQ(metadata.at("name"), "dnnroi-standin");
    const DataFile used = network.data_file().value();
    EXPECT_EQ(used.path, own_folder("data") / "dnnroi-standin.ts");
    EXPECT_EQ(used.bytes, std::filesystem::file_size(used.path));
    EXPECT_EQ(network.notes().at("model_sha256"), used.sha256);
    EXPECT_EQ(json_of(used).at("metadata"), metadata);
    std::ifstream stream(log_file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_NE(text.find("stand-in"), std::string::npos) << text;
    EXPECT_NE(text.find("not a trained network"), std::string::npos) << text;
}

TEST_F(StandIn, TilesGiveTheSameResult) {
    const TorchService& network = service(standin({{"chunk_ticks", 8}}));
    auto features = at::zeros({2, 3, 6, 48});
    features[0][0][2][8] = 1.5; // pulse at the border of two tiles
    features[0][2].fill_(1);    // confirmed everywhere, so the threshold is 0.4
    const auto out = network.forward(features);
    // Fine branch: 1.5 x (1, 2, 3, 2, 1) / 9; coarse branch: 1.5 / 4 in samples 8 to 11, / 3 in 4 to 15.
    const std::map<int, double> levels{{3, 0},      {4, .125},    {5, .125},   {6, 1.5 / 9},
                                       {7, 3. / 9}, {8, 4.5 / 9}, {9, 3. / 9}, {10, 1.5 / 9},
                                       {11, .125},  {15, .125},   {16, 0}};
    for (const auto& [sample, level] : levels) {
        EXPECT_NEAR(out[0][2][sample].item<double>(), 1 / (1 + std::exp(-20 * (level - 0.4))), 1e-6)
            << sample;
    }
}

} // namespace
} // namespace spng
