// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/foreign_file.h"

#include "tests/cfg/jsonnet_snippet.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using spng::foreign_file;
using spng::test::SnippetFile;

std::string kind_of(const std::string& content) {
    const auto found = foreign_file(SnippetFile(content).path());
    return found ? found->kind : "";
}

TEST(ForeignFile, KindsAreToldByTheirFirstBytes) {
    EXPECT_EQ(kind_of("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n"),
              "a Git LFS pointer, not the file itself");
    EXPECT_EQ(kind_of("\n <!DOCTYPE html><html>"), "a web page");
    EXPECT_EQ(kind_of("<HTML>"), "a web page");
    EXPECT_EQ(kind_of("\x89HDF\r\n\x1a\n"), "an HDF5 file");
    EXPECT_EQ(kind_of(std::string("\x08\x08\x12\x07pytorch", 11)), "an ONNX file");
    const std::string checkpoint =
        "a checkpoint of torch.save, such as a state_dict, which has weights but no code";
    EXPECT_EQ(kind_of("\x80\x02"
                      "ctorch"),
              checkpoint);
    EXPECT_EQ(kind_of("PK\x03\x04 net/data.pkl PK\x01\x02 net/data.pkl PK\x05\x06"), checkpoint);
    EXPECT_EQ(kind_of("PK\x03\x04 net/data.pkl PK\x01\x02 net/data.pkl"), "");                 // cut short
    EXPECT_EQ(kind_of("PK\x03\x04 net/data.pkl PK\x01\x02 net/constants.pkl PK\x05\x06"), ""); // TorchScript
    EXPECT_EQ(kind_of("PK\x03\x04 frame_*_0.npy"), "");
    EXPECT_EQ(kind_of(""), "");
    EXPECT_EQ(kind_of("{}"), "");
    EXPECT_FALSE(foreign_file("/nonexistent"));
    EXPECT_FALSE(foreign_file("/"));
}

} // namespace
