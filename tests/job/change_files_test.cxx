// SPDX-License-Identifier: Apache-2.0
// Other files for a job that has run: which configurations may differ.

#include "spng/core/error.h"
#include "spng/job/job.h"
#include "spng/job/jsonnet/jsonnet.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace spng {
namespace {

nlohmann::json& data_of(nlohmann::json& components, const std::string& type) {
    const auto found =
        std::find_if(components.begin(), components.end(), [&](auto& each) { return each["type"] == type; });
    if (found == components.end()) {
        throw std::runtime_error("no " + type);
    }
    return (*found)["data"];
}

TEST(ChangeFiles, ANodeThatReadsItsFileOnceIsRejectedLikeOtherSettings) {
    const auto cfg = test::repo_root() / "cfg";
    const auto components = evaluate_jsonnet(cfg / "simulate.jsonnet", {}, {cfg, cfg / "lib"});
    Job job(components, "simulate.jsonnet");
    auto changed = components;
    data_of(changed, "FrameFileSink")["outname"] = "other.npz";
    job.change_files(changed);
    const std::vector<std::tuple<std::string, std::string, nlohmann::json>> rejected{
        {"SPNGAddNoise", "spectra", "other.json.bz2"},
        {"SPNGAddNoise", "seed", 2},
        {"SPNGContext", "threads", 3}};
    for (const auto& [type, key, value] : rejected) {
        auto other = components;
        data_of(other, type)[key] = value;
        try {
            job.change_files(other);
            FAIL() << type << " " << key;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Configuration);
            EXPECT_EQ(error.text().seen, "another value of " + key);
        }
    }
    EXPECT_NO_THROW(job.change_files(changed));
}

} // namespace
} // namespace spng
