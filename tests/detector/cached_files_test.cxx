// SPDX-License-Identifier: Apache-2.0
// Wires and field responses from the user's cache are those of the file, to the bit.

#include "spng/core/error.h"
#include "spng/detector/field_response.h"
#include "spng/detector/wires.h"
#include "spng/io/data_file.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace spng {
namespace {

namespace fs = std::filesystem;

class CachedFilesTest : public testing::Test {
protected:
    CachedFilesTest() { setenv("SPNG_CACHE", (m_folder / "cache").c_str(), 1); }
    ~CachedFilesTest() override {
        m_before.empty() ? unsetenv("SPNG_CACHE") : setenv("SPNG_CACHE", m_before.c_str(), 1);
    }
    std::size_t entries() const {
        std::error_code problem;
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(m_folder / "cache", problem), {}));
    }
    const fs::path m_folder = test::temporary_folder("cached_files");

private:
    const std::string m_before = std::getenv("SPNG_CACHE") == nullptr ? "" : std::getenv("SPNG_CACHE");
};

void expect_equal(const WireSchema& a, const WireSchema& b) {
    EXPECT_EQ(a.path, b.path);
    ASSERT_EQ(a.anodes.size(), b.anodes.size());
    for (std::size_t anode = 0; anode < a.anodes.size(); ++anode) {
        EXPECT_EQ(a.anodes[anode].ident, b.anodes[anode].ident);
        ASSERT_EQ(a.anodes[anode].faces.size(), b.anodes[anode].faces.size());
        for (std::size_t face = 0; face < a.anodes[anode].faces.size(); ++face) {
            const WireFace &x = a.anodes[anode].faces[face], &y = b.anodes[anode].faces[face];
            EXPECT_EQ(x.ident, y.ident);
            ASSERT_EQ(x.planes.size(), y.planes.size());
            for (std::size_t i = 0; i < x.planes.size(); ++i) {
                const WirePlane &p = x.planes[i], &q = y.planes[i];
                EXPECT_EQ(p.ident, q.ident);
                EXPECT_EQ(p.pitch, q.pitch);
                EXPECT_EQ(p.first, q.first);
                EXPECT_EQ(p.direction.y, q.direction.y);
                EXPECT_EQ(p.direction.z, q.direction.z);
                EXPECT_EQ(p.pitch_direction.y, q.pitch_direction.y);
                EXPECT_EQ(p.pitch_direction.z, q.pitch_direction.z);
                ASSERT_EQ(p.wires.size(), q.wires.size());
                for (std::size_t wire = 0; wire < p.wires.size(); ++wire) {
                    const Wire &u = p.wires[wire], &v = q.wires[wire];
                    EXPECT_EQ(u.ident, v.ident);
                    EXPECT_EQ(u.channel, v.channel);
                    EXPECT_EQ(u.segment, v.segment);
                    EXPECT_EQ(u.tail.y, v.tail.y);
                    EXPECT_EQ(u.tail.z, v.tail.z);
                    EXPECT_EQ(u.head.y, v.head.y);
                    EXPECT_EQ(u.head.z, v.head.z);
                }
            }
        }
    }
}

TEST_F(CachedFilesTest, Wires) {
    const DataFile file =
        identify_data_file("wires", test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    const WireSchema parsed = load_wires(file.path.string());
    EXPECT_EQ(entries(), 0);
    expect_equal(load_wires(file), parsed);
    EXPECT_EQ(entries(), 1);
    expect_equal(load_wires(file), parsed); // from the cache
    EXPECT_EQ(entries(), 1);
}

TEST_F(CachedFilesTest, FieldResponse) {
    for (const char* const name :
         {"dune-garfield-1d565.json.gz", "np04hd-garfield-6paths-mcmc-bestfit.json.gz"}) {
        const DataFile file = identify_data_file("field", test::data_file(name));
        const FieldResponse parsed = load_field_response(file.path.string());
        for (const FieldResponse& loaded : {load_field_response(file), load_field_response(file)}) {
            EXPECT_EQ(loaded.path, parsed.path);
            EXPECT_EQ(loaded.origin, parsed.origin);
            EXPECT_EQ(loaded.speed, parsed.speed);
            EXPECT_EQ(loaded.period, parsed.period);
            EXPECT_EQ(loaded.start, parsed.start);
            ASSERT_EQ(loaded.planes.size(), parsed.planes.size());
            for (std::size_t i = 0; i < parsed.planes.size(); ++i) {
                EXPECT_EQ(loaded.planes[i].ident, parsed.planes[i].ident);
                EXPECT_EQ(loaded.planes[i].pitch, parsed.planes[i].pitch);
                EXPECT_EQ(loaded.planes[i].pitch_positions, parsed.planes[i].pitch_positions);
                EXPECT_TRUE(at::equal(loaded.planes[i].current, parsed.planes[i].current));
            }
        }
    }
    EXPECT_EQ(entries(), 2);
}

TEST_F(CachedFilesTest, AFileThatIsReplacedIsNotKeptUnderItsOldChecksum) {
    const fs::path path = m_folder / "wires.json.gz";
    fs::copy_file(test::data_file("protodunehd-wires-larsoft-v1.json.gz"), path);
    const DataFile before = identify_data_file("wires", path);
    std::ofstream(path) << "{}";
    EXPECT_EQ(test::error_of([&] { load_wires(before); }).kind(), ErrorKind::Configuration);
    EXPECT_EQ(entries(), 0);
    fs::copy_file(test::data_file("protodunehd-wires-larsoft-v1.json.gz"), path,
                  fs::copy_options::overwrite_existing);
    DataFile other = before;
    other.sha256 = std::string(64, '0'); // as if the file had changed between its checksum and its parsing
    load_wires(other);
    EXPECT_EQ(entries(), 0);
    load_wires(before);
    EXPECT_EQ(entries(), 1);
}

} // namespace
} // namespace spng
