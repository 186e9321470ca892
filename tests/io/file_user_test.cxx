// SPDX-License-Identifier: Apache-2.0
// Recognise one file under two names.

#include "spng/io/file_user.h"

#include "spng/core/error.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <fstream>

namespace spng::test {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
    void SetUp() override {
        m_folder = temporary_folder("file_user");
        std::ofstream(m_folder / "adc.npz") << "raw";
        fs::create_hard_link(m_folder / "adc.npz", m_folder / "hard.npz");
        fs::create_symlink("adc.npz", m_folder / "soft.npz");
        fs::create_directory_symlink(".", m_folder / "here");
    }
    std::string rejection(const fs::path& read_or_written, const fs::path& written, bool is_written = false) {
        try {
            require_separate({{"source", read_or_written, is_written}, {"sink", written, true}});
            return "";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Configuration);
            return error.text().what;
        }
    }
    fs::path m_folder;
};

TEST_F(Files, InputUnderAnyNameIsRejectedAsOutput) {
    for (const char* name : {"adc.npz", "hard.npz", "soft.npz", "here/adc.npz", "../file_user/adc.npz"}) {
        EXPECT_EQ(rejection(m_folder / "adc.npz", m_folder / name), "an output would overwrite an input")
            << name;
    }
    EXPECT_EQ(rejection(m_folder / "adc.npz", m_folder / "signal.npz"), "");
}

TEST_F(Files, OutputsThatDoNotExistYetAreCompared) {
    EXPECT_EQ(rejection(m_folder / "new.npz", m_folder / "here/./new.npz", true),
              "two outputs of a job are one file");
    EXPECT_EQ(rejection(m_folder / "new.npz", m_folder / "newer.npz", true), "");
    EXPECT_EQ(rejection("out.npz", fs::current_path() / "out.npz", true),
              "two outputs of a job are one file");
}

TEST_F(Files, LinksToOneMissingFileAreTheSame) {
    fs::create_symlink("here/new.npz", m_folder / "one.npz");
    fs::create_symlink("new.npz", m_folder / "two.npz");
    EXPECT_EQ(rejection(m_folder / "one.npz", m_folder / "two.npz", true),
              "two outputs of a job are one file");
    EXPECT_EQ(rejection(m_folder / "new.npz", m_folder / "two.npz", true),
              "two outputs of a job are one file");
}

TEST_F(Files, UnresolvableNamesAreNotTheSame) {
    fs::create_symlink("loop", m_folder / "loop");
    EXPECT_EQ(rejection(m_folder / "loop/a.npz", m_folder / "loop/b.json", true), "");
}

TEST_F(Files, InputsMayBeReadTwiceAndDevicesShared) {
    EXPECT_NO_THROW(
        require_separate({{"a", m_folder / "adc.npz", false}, {"b", m_folder / "adc.npz", false}}));
    EXPECT_EQ(rejection("/dev/null", "/dev/null", true), "");
}

TEST_F(Files, OutputsThatCannotBeWrittenAreFoundWithoutAFile) {
    const auto reason = [](const fs::path& path) -> std::string {
        try {
            require_writable(path);
            return "";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Output);
            return error.text().seen;
        }
    };
    const auto files = [&] {
        return std::distance(fs::directory_iterator(m_folder), fs::directory_iterator());
    };
    const auto before = files();
    EXPECT_EQ(reason(m_folder / "new.npz"), "");
    EXPECT_EQ(reason(m_folder / "adc.npz"), "");
    EXPECT_EQ(reason("/dev/null"), "");
    EXPECT_EQ(reason(m_folder / "none" / "new.npz"), "no folder " + (m_folder / "none").string());
    EXPECT_EQ(reason(m_folder), "a folder");
    EXPECT_EQ(files(), before);
}

} // namespace
} // namespace spng::test
