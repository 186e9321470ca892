// SPDX-License-Identifier: Apache-2.0
// A partial file never gets a final name and never remains.

#include "spng/core/files/temporary_files.h"

#include "spng/core/error.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <vector>

#include <sys/stat.h>

namespace {

namespace fs = std::filesystem;
using spng::TemporaryFile;

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(TemporaryFile, CommitGivesTheFinalName) {
    const fs::path folder = spng::test::temporary_folder("temporary_commit");
    std::ofstream(folder / "out.npz") << "old";
    {
        TemporaryFile file(folder / "out.npz");
        std::ofstream(file.path()) << "new";
        EXPECT_EQ(fs::file_size(folder / "out.npz"), 3U);
        file.commit();
    }
    std::string content;
    std::ifstream(folder / "out.npz") >> content;
    EXPECT_EQ(content, "new");
    EXPECT_EQ(files_in(folder), 1U);
}

TEST(TemporaryFile, UncommittedFileIsRemoved) {
    const fs::path folder = spng::test::temporary_folder("temporary_dropped");
    {
        const TemporaryFile file(folder / "out.npz");
        std::ofstream(file.path()) << "part";
        EXPECT_EQ(files_in(folder), 1U);
    }
    EXPECT_EQ(files_in(folder), 0U);
}

TEST(TemporaryFile, SignalHandlerRemovesUncommittedFiles) {
    const fs::path folder = spng::test::temporary_folder("temporary_signal");
    TemporaryFile done(folder / "done"), pending(folder / "pending");
    std::ofstream(done.path()) << "x";
    std::ofstream(pending.path()) << "x";
    done.commit();
    spng::unlink_temporary_files();
    EXPECT_TRUE(fs::exists(folder / "done"));
    EXPECT_FALSE(fs::exists(pending.path()));
}

TEST(TemporaryFile, WorthKeepingUntilCommitOrRemoval) {
    const fs::path folder = spng::test::temporary_folder("temporary_worth");
    EXPECT_FALSE(spng::temporary_files_worth_keeping());
    {
        TemporaryFile file(folder / "out");
        EXPECT_FALSE(spng::temporary_files_worth_keeping());
        file.mark_worth_keeping();
        EXPECT_TRUE(spng::temporary_files_worth_keeping());
    }
    EXPECT_FALSE(spng::temporary_files_worth_keeping());
}

TEST(TemporaryFile, FilesBeyondTheFullListStillWork) {
    const fs::path folder = spng::test::temporary_folder("temporary_many");
    std::vector<std::unique_ptr<TemporaryFile>> files;
    for (int i = 0; i < 100; ++i) {
        files.push_back(std::make_unique<TemporaryFile>(folder / std::to_string(i)));
        std::ofstream(files.back()->path()) << "x";
    }
    files.back()->commit();
    files.clear();
    EXPECT_EQ(files_in(folder), 1U);
}

TEST(TemporaryFile, LinkRemainsAndItsTargetIsReplaced) {
    const fs::path folder = spng::test::temporary_folder("temporary_link");
    fs::create_directory(folder / "there");
    std::ofstream(folder / "there" / "target") << "old";
    for (const char* name : {"there/target", "there/new"}) {
        fs::remove(folder / "link");
        fs::create_symlink(name, folder / "link");
        TemporaryFile file(folder / "link");
        EXPECT_EQ(file.path().parent_path(), folder / "there");
        std::ofstream(file.path()) << "new";
        file.commit();
        EXPECT_TRUE(fs::is_symlink(folder / "link"));
        EXPECT_EQ(fs::file_size(folder / name), 3U);
    }
    EXPECT_EQ(files_in(folder / "there"), 2U);
}

TEST(TemporaryFile, PipeIsWrittenInPlace) {
    const fs::path folder = spng::test::temporary_folder("temporary_pipe");
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    {
        TemporaryFile file(folder / "pipe");
        EXPECT_TRUE(file.in_place());
        EXPECT_EQ(file.path(), folder / "pipe");
        file.mark_worth_keeping();
        EXPECT_TRUE(spng::temporary_files_worth_keeping());
        spng::unlink_temporary_files();
        EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
    }
    EXPECT_FALSE(spng::temporary_files_worth_keeping());
    TemporaryFile file(folder / "pipe");
    file.commit();
    EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
    EXPECT_EQ(files_in(folder), 1U);
}

TEST(TemporaryFile, DeviceThatAppearsMeanwhileIsNotReplaced) {
    const fs::path folder = spng::test::temporary_folder("temporary_meanwhile");
    {
        TemporaryFile file(folder / "out");
        std::ofstream(file.path()) << "new";
        ASSERT_EQ(mkfifo((folder / "out").c_str(), 0600), 0);
        EXPECT_THROW(file.commit(), spng::Error);
    }
    EXPECT_TRUE(fs::is_fifo(folder / "out"));
    EXPECT_EQ(files_in(folder), 1U);
}

TEST(TemporaryFile, RejectsFoldersAndSockets) {
    const fs::path folder = spng::test::temporary_folder("temporary_rejected");
    fs::create_symlink("loop", folder / "loop");
    for (const fs::path& path : {folder, folder / "none" / "out", folder / "loop"}) {
        try {
            const TemporaryFile file(path);
            FAIL() << path;
        } catch (const spng::Error& error) {
            EXPECT_EQ(error.kind(), spng::ErrorKind::Output);
        }
    }
    TemporaryFile never_written(folder / "out");
    EXPECT_THROW(never_written.commit(), spng::Error);
}

} // namespace
