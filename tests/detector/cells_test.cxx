// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/cells.h"

#include "spng/core/error.h"
#include "tests/detector/detector_files.h"
#include "tests/detector/toy_face.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <utility>

namespace {

using namespace spng;

TEST(Cells, ToyFaceJoinsWiresIAndJByWireIPlusJ) {
    const FaceCells cells = find_cells(test::toy_face(4, 3));
    ASSERT_EQ(cells.size(), 12U);
    EXPECT_EQ(cells.clamped, 0U);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        EXPECT_EQ(cells.wires[2][cell], cells.wires[0][cell] + cells.wires[1][cell]);
    }
}

TEST(Cells, CrossingsSlightlyOutsideTheLastPlaneBelongToItsOuterWire) {
    WireFace face = test::toy_face(4, 3);
    face.planes[2].wires.resize(3); // cells with i + j of 3, 4, 5 are 1, 2, 3 pitches beyond the last wire
    const FaceCells cells = find_cells(face);
    EXPECT_EQ(cells.clamped, 3U + 2U) << "i + j = 3 in three cells, 4 in two";
    EXPECT_EQ(cells.size(), 11U) << "i + j = 5 is too far from any wire";
}

TEST(Cells, WiresMeetOnlyWhereBothExist) {
    WireFace face = test::toy_face(8, 8);
    face.planes[0].wires[5].head.y = 2.5; // the wire stops between V wires 2 and 3
    FaceCells cells = find_cells(face);
    EXPECT_EQ(cells.size(), 64U - 5U);
    face.planes[1].wires[0].tail.z = face.planes[1].wires[0].head.z - 2.0; // one end of V wire 0 cut off
    const auto count_v0 = [](const FaceCells& found) {
        return std::count(found.wires[1].begin(), found.wires[1].end(), 0);
    };
    EXPECT_LT(count_v0(find_cells(face)), count_v0(cells));
}

TEST(Cells, ParallelWiresAreRejected) {
    WireFace face = test::toy_face(3, 3);
    face.planes[1] = test::toy_plane(1, {1, 0}, 1.0, 3, 0, 3, 200);
    EXPECT_THROW(find_cells(face), Error);
    face.planes.resize(2);
    EXPECT_THROW(find_cells(face), Error);
}

/// docs/physics-notes.md#cells: 600 694 cells on each face; 1251.4 per W wire, 523.3 per U wire; 0.25 %
/// clamped.
TEST(Cells, ProtoduneHdCounts) {
    const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    for (const WireAnode& anode : schema.anodes) {
        for (const WireFace& face : anode.faces) {
            const FaceCells cells = find_cells(face);
            EXPECT_EQ(cells.size(), 600694U);
            EXPECT_NEAR(static_cast<double>(cells.clamped) / cells.size(), 0.0025, 0.00005);
        }
    }
}

/// Any point is on one strip of each plane. The cell of its U and V strips must exist. The W wire of that
/// cell is the wire of the point or a neighbour: along W's pitch, the point is at most one pitch away from
/// the crossing.
TEST(Cells, ProtoduneHdCellsCoverThePlane) {
    const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    for (const WireFace& face : schema.anode(2).faces) {
        const FaceCells cells = find_cells(face);
        std::map<std::pair<int, int>, int> wire_w;
        for (std::size_t cell = 0; cell < cells.size(); ++cell) {
            wire_w[{cells.wires[0][cell], cells.wires[1][cell]}] = cells.wires[2][cell];
        }
        EXPECT_EQ(wire_w.size(), cells.size());
        std::mt19937 generator(1);
        std::uniform_real_distribution<double> y(90, 6050);
        const WirePlane& plane_w = face.plane(2);
        std::uniform_real_distribution<double> z(plane_w.first, plane_w.first + plane_w.pitch * 479);
        for (int trial = 0; trial < 20000; ++trial) {
            const Point2 point{y(generator), z(generator)};
            const auto nearest = [&](int plane) {
                return static_cast<int>(std::lround(face.plane(plane).wire_coordinate(point)));
            };
            const auto found = wire_w.find({nearest(0), nearest(1)});
            ASSERT_NE(found, wire_w.end()) << "y " << point.y << " z " << point.z;
            ASSERT_LE(std::abs(found->second - nearest(2)), 1) << "y " << point.y << " z " << point.z;
        }
    }
}

TEST(Cells, OtherDetectors) {
    const struct {
        const char* file;
        int anode;
        double active_area, tolerance; // area covered by cells: height x width of the W plane [mm^2]
    } detectors[] = {
        {"protodune-wires-larsoft-v4.json.bz2", 5, 5990.6 * 2306.7, 0.005},
        {"microboone-celltree-wires-v2.1.json.bz2", 0, 2330.0 * 10368.0, 0.005},
        {"sbnd-wires-geometry-v0202.json.bz2", 1, 4000.0 * 5010.0, 0.005},
        {"protodunevd-wires-larsoft-v1.json.bz2", 110, 1677.7 * 1489.2, 0.02},
    };
    for (const auto& detector : detectors) {
        SPNG_SHARED_FILE_OR_SKIP(path, detector.file);
        const WireSchema schema = load_wires(path);
        for (const WireFace& face : schema.anode(detector.anode).faces) {
            // A cell is the rhombus of a U and a V strip, so the count of cells follows from the area.
            const WirePlane& plane_u = face.plane(0);
            const WirePlane& plane_v = face.plane(1);
            const double sine = std::abs(dot(plane_u.direction, plane_v.pitch_direction));
            const double expected = detector.active_area * sine / (plane_u.pitch * plane_v.pitch);
            EXPECT_NEAR(find_cells(face).size() / expected, 1.0, detector.tolerance) << detector.file;
        }
    }
}

} // namespace
