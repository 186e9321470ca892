// SPDX-License-Identifier: Apache-2.0
// The components and edges that the main job has for each detector, as checksums in tests/cfg/jobs.txt.

#include "spng/core/files/sha256.h"
#include "tests/cfg/jsonnet_snippet.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>

namespace spng::test {
namespace {

using nlohmann::json;

constexpr const char* all_tags = "signal,error,decon_charge,wiener,loose,mp2,mp3,roi";

/// Return the jobs by name, each with its code. Each detector has some jobs, pdhd has more.
std::map<std::string, std::string> jobs() {
    std::map<std::string, std::string> found;
    const std::string tags = std::string(", tags='") + all_tags + "'";
    const std::string edges = ", dump='adc,decon,gauss,loose,tight,images,regions,coincidence,roi,signal'";
    const auto add = [&](const std::string& job, const std::string& detector, const std::string& name,
                         const std::string& arguments) {
        found[detector + ", " + name] =
            "(import '" + job + ".jsonnet')(detname='" + detector + "', " + arguments + ")";
    };
    for (const std::string detector : evaluate("std.objectFields(import 'detectors/all.jsonnet')")) {
        const std::string anode =
            "tpcid=" + evaluate("(import 'detectors/all.jsonnet')['" + detector + "'].anodes[0]").dump();
        add("pipeline", detector, "one anode", anode + tags + edges);
    }
    add("pipeline", "pdhd", "all anodes", "tpcid='all', batch_anodes=false" + edges);
    add("pipeline", "pdhd_badAPA1", "batched anodes",
        "tpcid='all', batch_anodes=true, model='standin'" + tags);
    const std::map<std::string, std::string> of_pdhd{
        {"views apart", "batch=false" + tags + edges},
        {"none, views apart", "model='none', batch=false, tags='roi,wiener', dump='regions'"},
        {"files of anodes", "input='a-%d.npz', output='b-%d.npz', tpcid='0,2', dump='adc,roi', window='-1'"},
        {"steps on waveforms",
         "noise_filter='channels,lines,sticky,coherent', bad_channels='bad.json', dump='adc'"},
        {"windows", "window='6000,200,300', series='true', tags='wiener', frames='sparse', nevents='3'"},
        {"no signal", "tags='decon_charge', model='none', dump='signal,gauss'"},
        {"other filters", "filters='pdhd', engine='TbbFlow', dtype='float64', threads=3" + tags},
        {"thresholds",
         "model='none', seed_threshold='5,4', grow_threshold=1.5, check_input='false', dead_is_hit=true"},
        {"network",
         "mask_threshold='0.3', model_server='unix:/a', remote_model='m', network_layout='contiguous', "
         "network_timeout=5, network_output='warning', precision='fast', cuda_graph='off', verbosity=1"},
        {"device", "device='cuda:all', events_in_flight=3, overlap_files='0', memory_budget='4GB', "
                   "results_on_device='true', other_anodes='ignore', max_bad_share='0.5', intag='x'"},
        {"parts",
         "input=(import 'memory.jsonnet').MemorySource(), output=(import 'memory.jsonnet').MemorySink()"}};
    for (const auto& [name, arguments] : of_pdhd) {
        add("pipeline", "pdhd", name, arguments);
    }
    add("simulate", "pdhd", "simulation",
        "process='b.npz', truth='c.npz', signal='d.npz', write_depos='e.npz', charge_output='f.npz'");
    add("simulate", "pdhd", "simulation without noise",
        "noise='false', depos='d.npz', drift='false', output=''");
    add("from_charge", "pdhd", "of charge", "signal='s.npz', coherent=2, noise_level='0.5'");
    add("from_charge", "pdhd-data", "of charge", "noise='raw.npz', output='memory', input='memory'");
    return found;
}

/// Return an edge as a line. All outputs of a fan-out are the same, so their indices are left out.
std::string line_of(const json& edge) {
    const auto port = [](const json& end) {
        const auto node = end.at("node").get<std::string>();
        return node.rfind("SPNGFanoutTensorSets", 0) == 0 ? node : node + " " + end.at("port").dump();
    };
    return port(edge.at("tail")) + " -> " + port(edge.at("head"));
}

/// Return the components and the edges of a job, sorted: the order of a list does not matter here.
std::vector<std::string> lines_of(const json& job) {
    std::vector<std::string> lines;
    for (json component : job) {
        if (component.value("data", json::object()).contains("edges")) {
            for (const auto& edge : component["data"]["edges"]) {
                lines.push_back(line_of(edge));
            }
            component["data"].erase("edges");
        }
        lines.push_back(component.dump());
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// SPNG_JOBS=FOLDER writes the lines of each job into a file of this folder, and the new checksums into jobs.txt there.
TEST(MainJob, HasTheComponentsAndEdgesOfTheList) {
    const char* const given = std::getenv("SPNG_JOBS");
    const std::filesystem::path folder = given == nullptr ? "" : given;
    std::ostringstream seen;
    for (const auto& [name, code] : jobs()) {
        std::string text;
        for (const auto& line : lines_of(evaluate(code))) {
            text += line + "\n";
        }
        seen << name << ": " << sha256(text).substr(0, 16) << "\n";
        if (!folder.empty()) {
            std::ofstream(folder / (name + ".txt")) << text;
        }
    }
    if (!folder.empty()) {
        std::ofstream(folder / "jobs.txt") << seen.str();
    }
    std::ifstream file(repo_root() / "tests" / "cfg" / "jobs.txt");
    const std::string expected{std::istreambuf_iterator(file), {}};
    EXPECT_EQ(seen.str(), expected) << "lines: SPNG_JOBS=FOLDER ./wcb test --only MainJob, "
                                       "here and in a checkout of the commit before; then diff -r";
}

} // namespace
} // namespace spng::test
