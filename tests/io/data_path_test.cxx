// SPDX-License-Identifier: Apache-2.0
// Files are found by name in the documented order. A wrong name gives a hint.

#include "spng/io/data_path.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace {

namespace fs = std::filesystem;

class DataPath : public testing::Test {
protected:
    void SetUp() override {
        m_root = spng::test::temporary_folder("data_path");
        for (const char* folder : {"first", "second", "third"}) {
            fs::create_directory(m_root / folder);
        }
        m_saved = spng::search_path();
    }
    void TearDown() override {
        spng::set_search_path(m_saved);
        unsetenv("SPNG_DATA");
    }
    void make(const std::string& path) { std::ofstream(m_root / path) << path; }

    fs::path m_root;
    std::vector<fs::path> m_saved;
};

TEST_F(DataPath, SearchPathBeforeOtherFoldersInOrder) {
    spng::set_search_path({m_root / "first", m_root / "second"});
    make("third/spng-test-wires.json");
    EXPECT_EQ(spng::find_file("spng-test-wires.json", {m_root / "third"}, "file"),
              m_root / "third/spng-test-wires.json");
    make("second/spng-test-wires.json");
    EXPECT_EQ(spng::find_file("spng-test-wires.json", {m_root / "third"}, "file"),
              m_root / "second/spng-test-wires.json");
    make("first/spng-test-wires.json");
    EXPECT_EQ(spng::find_file("spng-test-wires.json", {m_root / "third"}, "file"),
              m_root / "first/spng-test-wires.json");
}

/// A file of the current folder, or of the search path, that hides one of the project's files is logged once.
TEST_F(DataPath, HiddenFileIsLogged) {
    const fs::path before = fs::current_path();
    fs::current_path(m_root / "first");
    spng::set_search_path({m_root / "second"});
    for (const char* path :
         {"first/hidden-a.ts", "third/hidden-a.ts", "first/hidden-b.ts", "third/hidden-b.ts",
          "second/hidden-c.ts", "third/hidden-c.ts", "first/hidden-d.ts"}) {
        make(path);
    }
    fs::create_hard_link(m_root / "first/hidden-d.ts", m_root / "third/hidden-d.ts");
    spng::log::reset();
    const fs::path log_file = m_root / "log";
    spng::log::add_sink(log_file.string() + ":info");
    for (const char* name : {"hidden-a.ts", "hidden-a.ts", "./hidden-b.ts", "hidden-c.ts", "hidden-d.ts"}) {
        spng::find_file(name, {m_root / "third"}, "file");
    }
    spng::log::reset();
    fs::current_path(before);
    std::ifstream stream(log_file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line.substr(line.find(']') + 2)); // without the time
    }
    EXPECT_EQ(lines, (std::vector<std::string>{
                         "W [ data ] hidden-a.ts: taking " + (m_root / "first/hidden-a.ts").string() +
                             " of the current folder, not " + (m_root / "third/hidden-a.ts").string(),
                         "I [ data ] hidden-c.ts: taking " + (m_root / "second/hidden-c.ts").string() +
                             " of the search path, not " + (m_root / "third/hidden-c.ts").string()}));
}

TEST_F(DataPath, AbsoluteNameIsUsedUnchanged) {
    make("third/a.json");
    EXPECT_EQ(spng::find_data_file((m_root / "third/a.json").string()), m_root / "third/a.json");
    EXPECT_THROW(spng::find_data_file((m_root / "third").string()), spng::Error) << "a folder is no file";
}

TEST_F(DataPath, FoldersOfTheDataVariable) {
    setenv("SPNG_DATA", ("/no/such/folder:" + (m_root / "third").string()).c_str(), 1);
    make("third/spng-test-field.json.bz2");
    EXPECT_EQ(spng::find_data_file("spng-test-field.json.bz2"), m_root / "third/spng-test-field.json.bz2");
}

TEST_F(DataPath, WrongNameListsFoldersAndTheNearestName) {
    spng::set_search_path({m_root / "first"});
    make("first/protodunexx-wires-larsoft-v1.json.bz2");
    try {
        spng::find_data_file("protodunexx-wires-larsoft-v2.json.bz2");
        FAIL();
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Configuration);
        EXPECT_NE(error.text().expected.find((m_root / "first").string()), std::string::npos);
        EXPECT_EQ(error.text().hint, "did you mean 'protodunexx-wires-larsoft-v1.json.bz2'?");
    }
}

TEST_F(DataPath, EnvironmentIsSplitAtColons) {
    setenv("SPNG_DATA", ":/a::/b:", 1);
    EXPECT_EQ(spng::folders_of_environment("SPNG_DATA"), (std::vector<fs::path>{"/a", "/b"}));
}

TEST_F(DataPath, OwnFoldersAreFoundFromTheProgramsFolder) {
    ASSERT_FALSE(spng::own_folder("cfg").empty());
    EXPECT_TRUE(fs::exists(spng::own_folder("cfg") / "lib" / "pgraph.jsonnet"));
    EXPECT_TRUE(spng::own_folder("no-such-folder").empty());
}

} // namespace
