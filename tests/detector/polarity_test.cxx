// SPDX-License-Identifier: Apache-2.0
// Compare the roles of planes with the field responses: a plane that a detector description calls
// `collection` collects charge, and one that it calls `induction` does not. An anode with the response of
// another anode fails here.

#include "spng/detector/field_response.h"
#include "spng/detector/wire_average.h"

#include "tests/cfg/jsonnet_snippet.h"
#include "tests/detector/detector_files.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace {

using namespace spng;

/// Return the anodes of all detectors: [{detector, anode, response, planes: [{plane, kind}]}].
const nlohmann::json& described_anodes() {
    static const nlohmann::json anodes = test::evaluate(
        "local detectors = import '" + own_folder("cfg").string() + "/detectors/all.jsonnet';" +
        R"(
        [
            {
                detector: name,
                anode: anode,
                response: detectors[name].field_response(anode),
                planes: [
                    { plane: view.plane, kind: group.kind }
                    for group in detectors[name].groups(anode)
                    for view in group.views
                ],
            }
            for name in std.objectFields(detectors)
            for anode in detectors[name].anodes
        ])");
    return anodes;
}

/// Return the file of a field response in data/ or in the shared data; empty if it is in neither.
std::string response_file(const std::string& name) {
    const std::string own = test::data_file(name);
    return std::filesystem::exists(own) ? own : test::shared_detector_file(name);
}

/// Return the charge [electrons] that one electron leaves on the wire of its region, by plane. A wire that
/// collects the electron sees -1 or, if other planes take a part of the charge, some tenths of that.
std::map<int, double> charge_on_central_wires(const std::string& path) {
    const FieldResponse response = load_field_response(path);
    std::map<int, double> charge;
    for (const PlaneResponse& plane : response.planes) {
        const at::Tensor wires = average_over_wires(plane);
        charge[plane.ident] = wires[wires.size(0) / 2].sum().item<double>() * response.period;
    }
    return charge;
}

TEST(Polarity, DescribedRolesFollowFromTheFieldResponses) {
    std::map<std::string, std::map<int, double>> responses;
    std::set<std::string> absent;
    for (const auto& anode : described_anodes()) {
        const std::string name = anode["response"], path = response_file(name);
        if (path.empty()) {
            absent.insert(name);
            continue;
        }
        if (!responses.contains(name)) {
            responses[name] = charge_on_central_wires(path);
        }
        for (const auto& plane : anode["planes"]) {
            const double charge = responses[name].at(plane["plane"]);
            EXPECT_EQ(plane["kind"], charge < -0.3 ? "collection" : "induction")
                << anode["detector"] << " anode " << anode["anode"] << ", plane " << plane["plane"] << " of "
                << name << ": an electron leaves " << charge << " e";
        }
    }
    EXPECT_GE(responses.size(), 2U) << "the responses of ProtoDUNE-HD are in data/";
    if (!absent.empty()) {
        GTEST_SKIP() << "not tested for lack of the field response: " << *absent.begin();
    }
}

/// In the Wire-Cell Toolkit, cfg/pgrapher/experiment/pdhd/params.jsonnet, the special response is fields[0].
TEST(Polarity, OnlyAnodeZeroOfTheBuiltProtoDuneHdCollectsOnV) {
    std::map<std::string, std::map<int, int>> collecting;
    for (const auto& anode : described_anodes()) {
        for (const auto& plane : anode["planes"]) {
            if (plane["kind"] == "collection") {
                collecting[anode["detector"]][anode["anode"]] = plane["plane"];
            }
        }
    }
    EXPECT_EQ(collecting["pdhd"], (std::map<int, int>{{0, 2}, {1, 2}, {2, 2}, {3, 2}}));
    EXPECT_EQ(collecting["pdhd_badAPA1"], (std::map<int, int>{{0, 1}, {1, 2}, {2, 2}, {3, 2}}));
    EXPECT_EQ(collecting["pdhd-data"], collecting["pdhd_badAPA1"]);
}

} // namespace
