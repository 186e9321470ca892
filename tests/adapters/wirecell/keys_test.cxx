// SPDX-License-Identifier: Apache-2.0
// The keys of SPNGSigProc: defaults, those of OmnibusSigProc (OSP), and errors.
#include "adapters/wirecell/keys.h"

#include <gtest/gtest.h>

namespace spng::wirecell {
namespace {

using nlohmann::json;

SigProcKeys keys(const char* text) {
    return keys_of(json::parse(text), "SPNGSigProc:sp");
}

Error error_of(const char* text) {
    try {
        keys(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Configuration);
        return error;
    }
    ADD_FAILURE() << "no error: " << text;
    return {ErrorKind::Internal, {.what = "no error"}};
}

std::vector<std::pair<std::string, std::string>> tags_of(const SigProcKeys& keys) {
    std::vector<std::pair<std::string, std::string>> tags;
    for (const TraceTag& tag : keys.tags) {
        tags.emplace_back(tag.product, tag.tag);
    }
    return tags;
}

using Tags = std::vector<std::pair<std::string, std::string>>;

TEST(WirecellKeys, DefaultsAreThoseOfPipelineOptionsAndOsp) {
    const SigProcKeys seen = keys_of(default_keys(), "SPNGSigProc");
    const PipelineOptions expected;
    EXPECT_EQ(seen.pipeline.detector, expected.detector);
    EXPECT_EQ(seen.pipeline.anodes, expected.anodes);
    EXPECT_EQ(seen.pipeline.model, expected.model);
    EXPECT_EQ(seen.pipeline.device, expected.device);
    EXPECT_EQ(seen.pipeline.tags, (std::vector<std::string>{"signal", "wiener"}));
    EXPECT_TRUE(seen.pipeline.arguments.empty());
    EXPECT_FALSE(seen.has_tpcid);
    EXPECT_EQ(seen.frame_tag, "sigproc");
    EXPECT_EQ(tags_of(seen), (Tags{{"signal", "gauss"}, {"wiener", "wiener"}}));
    EXPECT_EQ(tags_of(keys_of(json(), "SPNGSigProc")), tags_of(seen));
}

TEST(WirecellKeys, TakesTheKeysOfPipelineOptions) {
    const SigProcKeys seen =
        keys(R"({"detname": "pdsp", "tpcid": [1, 3], "model": "none", "device": "cpu", "sparse": true,
        "arguments": {"noise_filter": "lines", "max_bad_share": 0.25, "threads": 2.0, "check_input": false}})");
    EXPECT_EQ(seen.pipeline.detector, "pdsp");
    EXPECT_EQ(seen.pipeline.anodes, (std::vector<int>{1, 3}));
    EXPECT_TRUE(seen.has_tpcid);
    EXPECT_EQ(seen.pipeline.model, "none");
    EXPECT_EQ(seen.pipeline.device, "cpu");
    EXPECT_TRUE(seen.pipeline.sparse);
    EXPECT_EQ(seen.pipeline.arguments, (std::map<std::string, std::string>{{"noise_filter", "lines"},
                                                                           {"max_bad_share", "0.25"},
                                                                           {"threads", "2"},
                                                                           {"check_input", "false"}}));
    EXPECT_EQ(keys(R"({"tpcid": 2})").pipeline.anodes, std::vector<int>{2});
}

TEST(WirecellKeys, TakesTheTagsOfOsp) {
    const SigProcKeys seen =
        keys(R"({"anode": "AnodePlane:apa0", "gauss_tag": "gauss0", "wiener_tag": "wiener0", "frame_tag": "",
        "use_multi_plane_protection": true, "mp2_roi_tag": "mp2_roi0", "mp3_roi_tag": "mp3_roi0",
        "tight_lf_tag": "tight_lf0", "use_roi_debug_mode": false, "rawdecon_tag": ""})");
    EXPECT_EQ(seen.anode, "AnodePlane:apa0");
    EXPECT_EQ(seen.frame_tag, "");
    EXPECT_EQ(tags_of(seen),
              (Tags{{"signal", "gauss0"}, {"wiener", "wiener0"}, {"mp3", "mp3_roi0"}, {"mp2", "mp2_roi0"}}));
    EXPECT_EQ(seen.tags[0].scale, 1);
    EXPECT_EQ(seen.tags[2].scale, 4000); // OSP's value in an ROI
    EXPECT_EQ(tags_of(keys(R"({"wiener_tag": ""})")), (Tags{{"signal", "gauss"}}));
    EXPECT_EQ(tags_of(keys(R"({"mp2_roi_tag": "x"})")), (Tags{{"signal", "gauss"}, {"wiener", "wiener"}}));
}

TEST(WirecellKeys, WritesFurtherProducts) {
    const SigProcKeys seen = keys(R"({"wiener_tag": "", "tags": ["roi:roi0", "error", "signal:again"]})");
    EXPECT_EQ(tags_of(seen),
              (Tags{{"signal", "gauss"}, {"roi", "roi0"}, {"error", "error"}, {"signal", "again"}}));
    EXPECT_EQ(seen.pipeline.tags, (std::vector<std::string>{"signal", "roi", "error"}));
    EXPECT_EQ(tags_of(keys(R"({"tags": "roi,loose:l"})")),
              (Tags{{"signal", "gauss"}, {"wiener", "wiener"}, {"roi", "roi"}, {"loose", "l"}}));
}

TEST(WirecellKeys, NamesTheNearestKey) {
    const Error error = error_of(R"({"gaus_tag": "x"})");
    EXPECT_EQ(error.text().what, "unknown configuration key 'gaus_tag'");
    EXPECT_EQ(error.text().where, "SPNGSigProc:sp");
    EXPECT_NE(error.text().hint.find("gauss_tag"), std::string::npos) << error.what();
    EXPECT_NE(error_of(R"({"tags": ["rio"]})").text().hint.find("'roi'"), std::string::npos);
    EXPECT_NE(error_of(R"({"tags": ["gauss"]})").text().hint.find("decon_charge"), std::string::npos);
}

TEST(WirecellKeys, NamesThePageForKeysOfOspWithoutEqualMeaning) {
    const Error error = error_of(R"({"troi_pad": 5, "ADC_mV": 1, "dft": "FftwDFT", "gauss_tag": "g"})");
    EXPECT_EQ(error.text().seen, "ADC_mV, dft, troi_pad");
    EXPECT_NE(error.text().hint.find("docs/wirecell-plugin.md#keys-of-omnibussigproc"), std::string::npos);
    const Error fixed = error_of(R"({"use_roi_debug_mode": true})");
    EXPECT_EQ(fixed.text().where, "SPNGSigProc:sp, key use_roi_debug_mode");
    EXPECT_EQ(fixed.text().seen, "true");
}

TEST(WirecellKeys, RejectsWrongValues) {
    EXPECT_EQ(error_of(R"({"sparse": "yes"})").text().where, "SPNGSigProc:sp, key sparse");
    EXPECT_EQ(error_of(R"({"tpcid": -1})").text().where, "SPNGSigProc:sp, key tpcid[0]");
    EXPECT_EQ(error_of(R"({"tpcid": "0"})").text().expected, "array of integer");
    EXPECT_EQ(error_of(R"({"detname": ""})").text().where, "SPNGSigProc:sp, key detname");
    EXPECT_EQ(error_of(R"({"arguments": {"model": "none"}})").text().hint,
              "give it as key model of the node");
    EXPECT_EQ(error_of(R"({"arguments": {"threads": [1]}})").text().where,
              "SPNGSigProc:sp, key arguments.threads");
    EXPECT_EQ(error_of(R"({"arguments": []})").text().expected, "object");
    EXPECT_EQ(error_of(R"({"arguments": {"window": 24000}})").text().seen, "window");
    EXPECT_EQ(error_of(R"({"arguments": {"engine": "TbbFlow"}})").text().expected, "Pgrapher");
    EXPECT_NO_THROW(keys(R"({"arguments": {"engine": "Pgrapher"}})"));
    EXPECT_EQ(error_of(R"({"gauss_tag": "wiener"})").text().seen, "'wiener' for signal and wiener");
    EXPECT_EQ(error_of(R"({"gauss_tag": "", "wiener_tag": ""})").text().what,
              "the node has nothing to write");
    EXPECT_EQ(error_of(R"({"tags": ["roi:"]})").text().hint, "write a tag behind the colon");
    EXPECT_EQ(error_of(R"({"use_multi_plane_protection": true, "mp2_roi_tag": ""})").text().where,
              "SPNGSigProc:sp, key mp2_roi_tag");
    EXPECT_EQ(error_of("[]").text().expected, "object");
}

} // namespace
} // namespace spng::wirecell
