// SPDX-License-Identifier: Apache-2.0
// Data files are identified by path and content. Shipped files must match their checksums.

#include "spng/io/data_file.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace spng {
namespace {

namespace fs = std::filesystem;

constexpr const char* digits_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class DataFileTest : public testing::Test {
protected:
    fs::path make(const std::string& name, const std::string& content) const {
        std::ofstream(m_folder / name) << content;
        return m_folder / name;
    }
    fs::path folder() const { return m_folder; }

private:
    fs::path m_folder = test::temporary_folder("data_file");
};

TEST_F(DataFileTest, HasPathSizeAndChecksum) {
    const DataFile file = identify_data_file("wires", make("a.json", "abc"));
    EXPECT_EQ(file.path, folder() / "a.json");
    EXPECT_EQ(file.bytes, 3U);
    EXPECT_EQ(file.sha256, digits_of_abc);
    EXPECT_EQ(notes_of(file), (Notes{{"wires", "a.json"}, {"wires_sha256", digits_of_abc}}));
    EXPECT_EQ(json_of(file), (nlohmann::json{{"role", "wires"},
                                             {"path", (folder() / "a.json").string()},
                                             {"bytes", 3},
                                             {"sha256", digits_of_abc}}));
}

TEST_F(DataFileTest, PathIsAbsolute) {
    const fs::path before = fs::current_path();
    make("a.json", "abc");
    fs::current_path(folder());
    const DataFile file = identify_data_file("wires", "a.json");
    fs::current_path(before);
    EXPECT_EQ(file.path, folder() / "a.json");
}

TEST_F(DataFileTest, PipeHasNoChecksum) {
    const DataFile file = identify_data_file("wires", "/dev/null");
    EXPECT_EQ(file.sha256, "");
    EXPECT_EQ(notes_of(file), (Notes{{"wires", "null"}}));
}

TEST_F(DataFileTest, ShippedFileMustMatchItsChecksum) {
    const DataFile file = identify_data_file("model", make("net.ts", "abc"));
    make("SHA256SUMS", std::string(64, '0') + "  other.ts\n" + digits_of_abc + "  net.ts\n");
    EXPECT_NO_THROW(require_as_shipped(file, folder()));
    const DataFile own = identify_data_file("model", make("mine.ts", "abcd"));
    EXPECT_NO_THROW(require_as_shipped(own, folder())) << "not in the list";
    EXPECT_NO_THROW(require_as_shipped(file, folder().parent_path())) << "another folder";

    const DataFile damaged = identify_data_file("model", make("net.ts", "abd"));
    try {
        require_as_shipped(damaged, folder());
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.text().where, (folder() / "net.ts").string());
        EXPECT_NE(error.text().seen.find(damaged.sha256), std::string::npos) << error.what();
        EXPECT_NE(error.text().expected.find(digits_of_abc), std::string::npos) << error.what();
        EXPECT_NE(error.text().hint.find("another name"), std::string::npos) << error.what();
    }
}

TEST_F(DataFileTest, MissingListIsLogged) {
    const DataFile file = identify_data_file("model", make("net.ts", "abc"));
    log::reset();
    log::add_sink((folder() / "log").string());
    EXPECT_NO_THROW(require_as_shipped(file, folder()));
    log::reset();
    std::ifstream stream(folder() / "log");
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_NE(text.find("SHA256SUMS is missing"), std::string::npos) << text;
}

} // namespace
} // namespace spng
