// SPDX-License-Identifier: Apache-2.0
// A cache gives what was kept, and otherwise nothing: it never ends a job or changes a result.

#include "spng/core/cache/user_cache.h"

#include "spng/core/cache/byte_record.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace spng {
namespace {

namespace fs = std::filesystem;

class UserCacheTest : public testing::Test {
protected:
    UserCacheTest() { setenv("SPNG_CACHE", m_folder.c_str(), 1); }
    ~UserCacheTest() override {
        m_before.empty() ? unsetenv("SPNG_CACHE") : setenv("SPNG_CACHE", m_before.c_str(), 1);
    }
    fs::path entry(const std::string& key) const { return m_folder / ("kind-" + key); }
    const fs::path m_folder = test::temporary_folder("user_cache") / "not" / "yet";

private:
    const std::string m_before = std::getenv("SPNG_CACHE") == nullptr ? "" : std::getenv("SPNG_CACHE");
};

TEST_F(UserCacheTest, GivesWhatWasKept) {
    const std::string content("a\n\0b", 4);
    EXPECT_EQ(find_in_cache("kind", "1"), std::nullopt);
    keep_in_cache("kind", "1", "first");
    keep_in_cache("kind", "1", content);
    EXPECT_EQ(find_in_cache("kind", "1"), content);
    EXPECT_EQ(find_in_cache("kind", "2"), std::nullopt);
    EXPECT_EQ(find_in_cache("other", "1"), std::nullopt);
    keep_in_cache("kind", "3", "");
    EXPECT_EQ(find_in_cache("kind", "3"), "");
}

TEST_F(UserCacheTest, EachChangedByteMakesAnEntryAbsent) {
    keep_in_cache("kind", "1", "content");
    std::ifstream stream(entry("1"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 4);
        std::ofstream(entry("1"), std::ios::binary) << damaged;
        EXPECT_EQ(find_in_cache("kind", "1"), std::nullopt) << "byte " << i;
        std::ofstream(entry("1"), std::ios::binary) << whole.substr(0, i);
        EXPECT_EQ(find_in_cache("kind", "1"), std::nullopt) << "cut to " << i;
    }
    std::ofstream(entry("1"), std::ios::binary) << whole << ' ';
    EXPECT_EQ(find_in_cache("kind", "1"), std::nullopt);
    std::ofstream(entry("1"), std::ios::binary) << whole;
    EXPECT_EQ(find_in_cache("kind", "1"), "content");
}

TEST_F(UserCacheTest, AnEntryUnderAnotherNameIsForeign) {
    keep_in_cache("kind", "1", "content");
    fs::copy(entry("1"), entry("2"));
    EXPECT_EQ(find_in_cache("kind", "2"), std::nullopt);
    fs::create_directory(entry("3"));
    EXPECT_EQ(find_in_cache("kind", "3"), std::nullopt);
}

TEST_F(UserCacheTest, AFolderThatTakesNothing) {
    for (const char* const folder : {"/dev/null", "/proc/none", "off"}) {
        setenv("SPNG_CACHE", folder, 1);
        keep_in_cache("kind", "1", "content");
        EXPECT_EQ(find_in_cache("kind", "1"), std::nullopt) << folder;
    }
    EXPECT_FALSE(fs::exists("off"));
}

TEST_F(UserCacheTest, KeepsTheNewest64) {
    for (int i = 0; i < 70; ++i) {
        keep_in_cache("kind", std::to_string(i), "content");
        if (i < 64) {
            fs::last_write_time(entry(std::to_string(i)),
                                fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
        }
    }
    keep_in_cache("other", "1", "content");
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 65);
    EXPECT_EQ(find_in_cache("kind", "5"), std::nullopt);
    EXPECT_EQ(find_in_cache("kind", "6"), "content");
    EXPECT_EQ(find_in_cache("kind", "69"), "content");
}

TEST_F(UserCacheTest, TwoWritersAtOnce) {
    const std::string a(100'000, 'a'), b(100'000, 'b');
    const auto write = [](const std::string& text) {
        for (int i = 0; i < 50; ++i) {
            keep_in_cache("kind", "1", text);
        }
    };
    keep_in_cache("kind", "1", a);
    std::thread first(write, a), second(write, b);
    for (int i = 0; i < 200; ++i) {
        const auto found = find_in_cache("kind", "1");
        EXPECT_TRUE(found == a || found == b);
    }
    first.join();
    second.join();
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 1);
}

struct Part {
    double size = 0;
    std::vector<int> numbers;
};

TEST(ByteRecord, ReadsWhatWasWrittenAndNothingElse) {
    const auto visit = [](auto& record, Part& part) {
        record.value(part.size);
        record.list(part.numbers);
    };
    std::vector<Part> parts{{0.1, {1, 2, 3}}, {-2.5, {}}};
    RecordWriter writer;
    writer.list(parts, visit);
    RecordReader reader(writer.text());
    std::vector<Part> read;
    reader.list(read, visit);
    ASSERT_EQ(read.size(), 2);
    EXPECT_EQ(read[0].size, 0.1);
    EXPECT_EQ(read[0].numbers, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(read[1].size, -2.5);
    EXPECT_TRUE(read[1].numbers.empty());
    EXPECT_TRUE(reader.is_at_end());
    for (std::size_t i = 0; i < writer.text().size(); ++i) {
        RecordReader cut(std::string_view(writer.text()).substr(0, i));
        EXPECT_THROW(cut.list(read, visit), std::out_of_range) << i;
    }
}

} // namespace
} // namespace spng
