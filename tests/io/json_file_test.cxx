// SPDX-License-Identifier: Apache-2.0
#include "spng/io/json_file.h"

#include "spng/core/error.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <archive.h>
#include <archive_entry.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace spng;

std::string temporary(const std::string& name) {
    return spng::test::temporary_folder("json_file_" + name) / name;
}

std::string written(const std::string& name, const std::string& content) {
    const std::string path = temporary(name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

std::string compressed(const std::string& name, const std::string& content, int (*add_filter)(archive*)) {
    const std::string path = temporary(name);
    archive* writer = archive_write_new();
    add_filter(writer);
    archive_write_set_format_raw(writer);
    archive_write_open_filename(writer, path.c_str());
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(writer, entry);
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
    archive_write_close(writer);
    archive_write_free(writer);
    return path;
}

Error error_of(const std::string& path) {
    try {
        load_json_file(path);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Configuration);
        return error;
    }
    ADD_FAILURE() << "no error";
    return Error(ErrorKind::Internal, {});
}

TEST(JsonFile, DeepNestingIsRejected) {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    for (const std::size_t levels : {501, 150'000}) {
        const auto error = error_of(written("deep.json", "[\n" + nested(levels) + "]"));
        EXPECT_EQ(error.text().what, "a data file nests too deeply");
        EXPECT_NE(error.text().where.find(", line 2, column 500"), std::string::npos) << error.text().where;
    }
    EXPECT_NO_THROW(load_json_file(written("deep.json", nested(500))));
    const std::string quoted = "[\"" + std::string(1000, '[') + "\\\"[\", 1]";
    EXPECT_EQ(load_json_file(written("quoted.json", quoted)).size(), 2u);
    EXPECT_EQ(find_deep_nesting("\"an open string["), std::string::npos);
    EXPECT_EQ(find_deep_nesting("\"\\"), std::string::npos);
}

TEST(JsonFile, FormatsThatNeedAnotherProgramAreNotUnpacked) {
    const std::filesystem::path folder = temporary("programs");
    std::filesystem::create_directories(folder);
    const auto mark = folder / "was-run";
    const auto program = folder / "lrzip";
    std::ofstream(program) << "#!/bin/sh\ntouch " << mark << "\necho 1\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const std::string path_before = std::getenv("PATH");
    ::setenv("PATH", (folder.string() + ":" + path_before).c_str(), 1);
    const auto error = error_of(written("data.json", std::string("LRZI\0\6", 6) + std::string(100, '\0')));
    ::setenv("PATH", path_before.c_str(), 1);
    EXPECT_EQ(error.text().what, "a data file is not JSON");
    EXPECT_FALSE(std::filesystem::exists(mark));
    std::filesystem::remove_all(folder);
}

/// Return some kilobytes of compressible text.
std::string long_document() {
    std::string text = "[0";
    for (int value = 1; value < 20000; ++value) {
        text += "," + std::to_string(value * 7919 % 100003);
    }
    return text + "]";
}

TEST(JsonFile, PlainAndCompressedFilesGiveTheSame) {
    const std::string text = long_document();
    for (const std::string& path :
         {written("plain.json", text), compressed("a.json.gz", text, archive_write_add_filter_gzip),
          compressed("a.json.bz2", text, archive_write_add_filter_bzip2),
          compressed("name-says-nothing", text, archive_write_add_filter_bzip2)}) {
        const nlohmann::json document = load_json_file(path);
        ASSERT_EQ(document.size(), 20000U) << path;
        EXPECT_EQ(document[3], 3 * 7919);
    }
}

TEST(JsonFile, TruncatedFilesAreRejected) {
    for (const auto add_filter : {archive_write_add_filter_gzip, archive_write_add_filter_bzip2}) {
        const std::string whole = compressed("whole", long_document(), add_filter);
        std::ifstream stream(whole, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
        for (const double part : {0.01, 0.3, 0.7, 0.99}) {
            error_of(written("part", bytes.substr(0, static_cast<std::size_t>(part * bytes.size()))));
        }
    }
}

TEST(JsonFile, ErrorsNameTheReason) {
    EXPECT_NE(error_of(temporary("absent.json")).text().what.find("missing"), std::string::npos);
    EXPECT_NE(error_of(testing::TempDir()).text().seen.find("folder"), std::string::npos);
    EXPECT_NE(error_of(written("empty.json", "")).text().what.find("empty"), std::string::npos);
    const Error error = error_of(written("wrong.json", "{\"a\": 1,\n \"b\": }\n"));
    EXPECT_NE(error.text().where.find("line 2, column 7"), std::string::npos) << error.what();
}

TEST(JsonFile, TextBehindAZeroByteIsNoJson) {
    for (const std::string& text :
         {std::string("{}\0", 3), std::string("{}\0]", 4), std::string("\0{}", 3)}) {
        EXPECT_TRUE(parsed_json(text).is_discarded());
        EXPECT_EQ(error_of(written("zero.json", text)).text().seen, "a byte 0");
    }
    EXPECT_EQ(parsed_json(R"({"a":"\u0000"})")["a"], std::string(1, '\0'));
    EXPECT_TRUE(parsed_json(std::string(501, '[') + std::string(501, ']')).is_discarded());
}

TEST(JsonFile, MembersAreChecked) {
    const auto object = nlohmann::json::parse(R"({"n": 2.5, "i": 3, "l": [1, 4], "big": 5000000000})");
    const JsonLocation location{.file = "f.json"};
    EXPECT_EQ(json_number(object, "n", location), 2.5);
    EXPECT_EQ(json_integer(object, "i", location), 3);
    EXPECT_EQ(json_list(object, "l", location).size(), 2U);
    EXPECT_EQ(json_index(object["l"][0], 2, "l", location), 1U);
    EXPECT_THROW(json_number(object, "l", location), Error);
    EXPECT_THROW(json_integer(object, "n", location), Error);
    EXPECT_THROW(json_integer(object, "big", location), Error);
    EXPECT_THROW(json_list(object, "i", location), Error);
    EXPECT_THROW(json_index(object["l"][1], 2, "l", location), Error);
    EXPECT_THROW(json_member(object["i"], "x", location), Error);
    try {
        json_member(object, "absent", location.at("wires", 12));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.text().where, "f.json, wires[12], key \"absent\"");
    }
}

} // namespace
