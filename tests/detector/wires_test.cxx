// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/wires.h"

#include "spng/core/error.h"
#include "tests/detector/detector_files.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace {

using namespace spng;
using nlohmann::json;

/// Return one anode, one face, one plane of three vertical wires 5 mm apart, listed in reverse and one upside
/// down.
json three_wires() {
    return json::parse(R"({"Store": {
        "anodes": [{"Anode": {"ident": 7, "faces": [0]}}],
        "faces": [{"Face": {"ident": 1, "planes": [0]}}],
        "planes": [{"Plane": {"ident": 2, "wires": [2, 1, 0]}}],
        "wires": [{"Wire": {"ident": 0, "channel": 10, "segment": 0, "tail": 0, "head": 1}},
                  {"Wire": {"ident": 1, "channel": 11, "segment": 0, "tail": 3, "head": 2}},
                  {"Wire": {"ident": 2, "channel": 12, "segment": 0, "tail": 4, "head": 5}}],
        "points": [{"Point": {"x": 0, "y": 0, "z": 1}}, {"Point": {"x": 0, "y": 100, "z": 1}},
                   {"Point": {"x": 0, "y": 0, "z": 6}}, {"Point": {"x": 0, "y": 100, "z": 6}},
                   {"Point": {"x": 0, "y": 0, "z": 11}}, {"Point": {"x": 0, "y": 100, "z": 11}}]}})");
}

WireSchema load(const json& document) {
    const std::string path = spng::test::temporary_folder("wires") / "test.json";
    std::ofstream(path) << document;
    return load_wires(path);
}

std::string error_of(const json& document) {
    try {
        load(document);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Configuration);
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

TEST(Wires, SortedByIncreasingPitchForAnyFileOrder) {
    const WirePlane plane = load(three_wires()).anode(7).face(1).plane(2);
    ASSERT_EQ(plane.size(), 3);
    EXPECT_EQ(plane.wires[0].channel, 10);
    EXPECT_EQ(plane.wires[2].channel, 12);
    EXPECT_DOUBLE_EQ(plane.pitch, 5.0);
    EXPECT_DOUBLE_EQ(plane.direction.y, 1.0);
    EXPECT_DOUBLE_EQ(plane.pitch_direction.z, 1.0);
    EXPECT_DOUBLE_EQ(plane.first, 1.0);
    EXPECT_DOUBLE_EQ(plane.wire_coordinate({50.0, 8.5}), 1.5);
}

TEST(Wires, WiresAlongZAreSortedByIncreasingY) {
    json document = three_wires();
    for (json& entry : document["Store"]["points"]) {
        std::swap(entry["Point"]["y"], entry["Point"]["z"]);
    }
    const WirePlane plane = load(document).anode(7).face(1).plane(2);
    EXPECT_DOUBLE_EQ(plane.pitch_direction.y, 1.0);
    EXPECT_EQ(plane.wires[0].channel, 10);
}

TEST(Wires, ErrorsNameTheLocation) {
    json document = three_wires();
    document["Store"].erase("points");
    EXPECT_NE(error_of(document).find("key \"points\""), std::string::npos);

    document = three_wires();
    document["Store"]["wires"][1]["Wire"]["head"] = 99;
    EXPECT_NE(error_of(document).find("wires[1], key \"head\""), std::string::npos);

    document = three_wires();
    document["Store"]["wires"][2]["Wire"]["channel"] = "twelve";
    EXPECT_NE(error_of(document).find("wires[2], key \"channel\""), std::string::npos);

    document = three_wires();
    document["Store"]["planes"][0]["Plane"]["wires"] = {1};
    EXPECT_NE(error_of(document).find("too few wires"), std::string::npos);

    document = three_wires();
    document["Store"]["wires"][0]["Wire"]["head"] = 0;
    EXPECT_NE(error_of(document).find("no length"), std::string::npos);

    document = three_wires();
    document["Store"]["points"][1]["Point"]["z"] = 9;
    EXPECT_NE(error_of(document).find("not parallel"), std::string::npos);

    document = three_wires();
    for (const int end : {2, 3}) {
        document["Store"]["points"][end]["Point"]["z"] = 9;
    }
    EXPECT_NE(error_of(document).find("not equally spaced"), std::string::npos);

    document = three_wires();
    document["Store"]["points"][1]["Point"]["z"] = 1e30;
    EXPECT_NE(error_of(document).find("points[1], key \"z\""), std::string::npos);

    document = three_wires();
    document["Store"]["faces"][0]["Face"]["planes"] = {0, 0};
    EXPECT_NE(error_of(document).find("planes[0] is used twice"), std::string::npos);

    document = three_wires();
    document["Store"]["anodes"] = json::array();
    EXPECT_NE(error_of(document).find("no anode"), std::string::npos);
}

TEST(Wires, UnknownIdentsNameTheKnownOnes) {
    const WireSchema schema = load(three_wires());
    try {
        schema.anode(3);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(error.text().expected.find("7"), std::string::npos);
    }
    EXPECT_THROW(schema.anode(7).face(0), Error);
    EXPECT_THROW(schema.anode(7).face(1).plane(0), Error);
}

TEST(Wires, ProtoduneHd) {
    const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    ASSERT_EQ(schema.anodes.size(), 4U);
    for (const WireAnode& anode : schema.anodes) {
        ASSERT_EQ(anode.faces.size(), 2U);
        for (const WireFace& face : anode.faces) {
            EXPECT_EQ(face.plane(0).size(), 1148);
            EXPECT_EQ(face.plane(1).size(), 1148);
            EXPECT_EQ(face.plane(2).size(), 480);
            EXPECT_NEAR(face.plane(2).pitch, (2299.97 - 4.6035) / 479, 1e-3);
            const double degree = std::acos(-1.0) / 180;
            for (const int plane : {0, 1}) {
                EXPECT_NEAR(face.plane(plane).pitch, 4.669095, 2e-4 * 4.669);
                const Point2 direction = face.plane(plane).direction;
                EXPECT_NEAR(std::abs(std::atan2(direction.z, direction.y)) / degree, 35.707, 0.01);
            }
            EXPECT_LT(face.plane(0).direction.z * face.plane(1).direction.z, 0)
                << "U and V lean opposite ways";
        }
    }
}

TEST(Wires, OtherDetectorsLoad) {
    const struct {
        const char* file;
        std::size_t anodes, faces;
        int wires_u, wires_v, wires_w;
    } detectors[] = {
        {"protodune-wires-larsoft-v4.json.bz2", 6, 2, 1148, 1148, 480},
        {"microboone-celltree-wires-v2.1.json.bz2", 1, 1, 2400, 2400, 3456},
        {"sbnd-wires-geometry-v0202.json.bz2", 2, 1, 1984, 1984, 1670},
        {"icarus-wires-dualanode-v5.json.bz2", 8, 1, 1056, 5600, 5600},
    };
    for (const auto& detector : detectors) {
        SPNG_SHARED_FILE_OR_SKIP(path, detector.file);
        const WireSchema schema = load_wires(path);
        EXPECT_EQ(schema.anodes.size(), detector.anodes) << detector.file;
        for (const WireAnode& anode : schema.anodes) {
            ASSERT_EQ(anode.faces.size(), detector.faces) << detector.file;
            EXPECT_EQ(anode.faces[0].plane(0).size(), detector.wires_u) << detector.file;
            EXPECT_EQ(anode.faces[0].plane(1).size(), detector.wires_v) << detector.file;
            EXPECT_EQ(anode.faces[0].plane(2).size(), detector.wires_w) << detector.file;
        }
    }
}

} // namespace
