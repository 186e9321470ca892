// SPDX-License-Identifier: Apache-2.0
// The parts of the jobs of cfg/: between sources and sinks each node sees one event only, whatever is written or dumped,
// and the work between upload and packing can be captured.

#include "spng/graph/device_section.h"
#include "spng/graph/node.h"
#include "spng/job/job.h"
#include "spng/job/jsonnet/jsonnet.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spng {
namespace {

using Kind = JsonnetBinding::Kind;
using Arguments = std::vector<std::pair<std::string, std::string>>;

constexpr const char* all_tags = "signal,error,decon_charge,wiener,loose,mp2,mp3,roi";
constexpr const char* all_edges = "adc,decon,gauss,loose,tight,images,regions,coincidence,roi,signal";

std::set<std::string> types_of(const std::vector<Step>& steps) {
    std::set<std::string> types;
    for (const Step& step : steps) {
        types.insert(step.node->name().type);
    }
    return types;
}

class PartsOfJobs : public testing::TestWithParam<const char*> {
protected:
    static Job job_of(const Arguments& arguments) {
        std::vector<JsonnetBinding> bindings{{Kind::argument_text, "detname", GetParam()}};
        for (const auto& [name, text] : arguments) {
            bindings.push_back({Kind::argument_text, name, text});
        }
        const auto root = test::repo_root();
        return {evaluate_jsonnet(root / "cfg/pipeline.jsonnet", bindings, {root / "cfg", root / "cfg/lib"}),
                "pipeline.jsonnet"};
    }
};
INSTANTIATE_TEST_SUITE_P(Detectors, PartsOfJobs,
                         testing::Values("pdhd", "pdhd-data", "pdsp", "sbnd", "microboone-data", "icarus"));

TEST_P(PartsOfJobs, OnlySourcesAndEndsAreSerial) {
    for (const Arguments& arguments :
         {Arguments{{"device", "cpu"}}, Arguments{{"device", "cpu"}, {"tags", all_tags}},
          Arguments{{"device", "cpu"}, {"tags", "roi"}, {"model", "none"}, {"window", "-1"}},
          Arguments{{"device", "cpu"}, {"tags", all_tags}, {"dump", all_edges}}}) {
        const Job job = job_of(arguments);
        const Parts parts = split(job.graph());
        EXPECT_EQ(types_of(parts.head), (std::set<std::string>{"FrameFileSource"}));
        for (const std::string& type : types_of(parts.tail)) {
            EXPECT_TRUE(
                (std::set<std::string>{"FrameFileSink", "SPNGStitchWindows", "SPNGTensorTap"}.contains(type)))
                << type;
        }
        EXPECT_FALSE(types_of(parts.body).contains("SPNGTensorTap"));
    }
}

TEST_P(PartsOfJobs, DumpsAreResultsOfTheSection) {
    const Job plain = job_of({{"device", "cpu"}, {"model", "none"}});
    const Job dumping = job_of({{"device", "cpu"}, {"model", "none"}, {"dump", "decon,roi"}});
    const Parts few = split(plain.graph()), more = split(dumping.graph());
    const DeviceSection without = find_device_section(few), with = find_device_section(more);
    EXPECT_EQ(with.inside.size(), without.inside.size());
    EXPECT_GT(with.leaving.size(), without.leaving.size());
}

} // namespace
} // namespace spng
