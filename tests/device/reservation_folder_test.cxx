// SPDX-License-Identifier: Apache-2.0
// All users may write to the folder of reservations: unexpected files there make no job wait or fail.

#include "spng/device/memory/reservation.h"

#include "spng/core/error.h"
#include "tests/support/components.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace spng::test {
namespace {

namespace fs = std::filesystem;

class ReservationFolderTest : public testing::Test {
protected:
    ReservationFolderTest() {
        char name[] = "/tmp/spng-reservation-folder-test-XXXXXX";
        m_root = mkdtemp(name);
    }
    ~ReservationFolderTest() override { fs::remove_all(m_root); }

    static ReservationRequest request(std::int64_t bytes) {
        return {.device = "host", .bytes = bytes, .capacity = 100, .purpose = "a test", .since = "now"};
    }
    fs::path folder() const { return fs::path(m_root) / "host"; }

    std::string m_root;
};

/// Check that a reservation gets all memory although an object in the folder has the name of a holding
/// reservation, and that the object remains.
void expect_no_claim(const std::string& root, const fs::path& strange) {
    Reservation reservation(root, {.device = "host", .bytes = 100, .capacity = 100});
    EXPECT_TRUE(reservation.try_to_hold()) << reservation.in_front();
    EXPECT_EQ(reservations_text(root).find("host  holds 100 B, process " + std::to_string(getpid())), 0U);
    EXPECT_TRUE(fs::exists(fs::symlink_status(strange)));
}

TEST_F(ReservationFolderTest, OnlyRegularFilesCount) {
    { Reservation makes_the_folder(m_root, request(1)); }
    const fs::path strange = folder() / "000000000001-5-100-holding.reservation";
    ASSERT_EQ(mkfifo(strange.c_str(), 0666), 0);
    expect_no_claim(m_root, strange);
    fs::remove(strange);
    fs::create_directory(strange);
    expect_no_claim(m_root, strange);
    fs::remove(strange);
    const fs::path locked = fs::path(m_root) / "locked";
    std::ofstream(locked) << "";
    const int file = open(locked.c_str(), O_RDONLY);
    ASSERT_EQ(flock(file, LOCK_EX), 0);
    fs::create_symlink(locked, strange);
    expect_no_claim(m_root, strange);
    close(file);
    fs::remove(strange);
    fs::create_symlink("/dev/zero", strange);
    expect_no_claim(m_root, strange);
    fs::remove(strange);
    if (mknod(strange.c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0) { // like /dev/zero; needs root
        expect_no_claim(m_root, strange);
    }
}

TEST_F(ReservationFolderTest, UnreadableFileDoesNotCount) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root, to become another user";
    }
    const fs::path shared = fs::path(m_root) / "shared";
    ASSERT_EQ(chmod(m_root.c_str(), 0755), 0);
    { Reservation makes_the_folder(shared, request(1)); }
    const fs::path mine = shared / "host" / "000000000001-5-100-holding.reservation";
    const int file = open(mine.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(flock(file, LOCK_EX), 0);
    const pid_t child = fork();
    if (child == 0) {
        bool held = false;
        if (setuid(65534) == 0) {
            Reservation theirs(shared, request(100));
            held = theirs.try_to_hold();
        }
        _exit(held ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(fs::exists(mine));
    close(file);
}

TEST_F(ReservationFolderTest, InvalidLimitFilesSetNoLimits) {
    { Reservation makes_the_folder(m_root, request(1)); }
    const fs::path limits = folder() / "limits";
    ASSERT_EQ(mkfifo(limits.c_str(), 0666), 0);
    EXPECT_TRUE(Reservation(m_root, request(100)).try_to_hold());
    fs::remove(limits);
    fs::create_symlink("/dev/zero", limits);
    EXPECT_TRUE(Reservation(m_root, request(100)).try_to_hold());
    fs::remove(limits);
    std::ofstream(limits) << "bytes 50\n";
    fs::resize_file(limits, std::uintmax_t{1} << 40); // one line of zeros, without disk space
    EXPECT_EQ(error_of([&] { Reservation(m_root, request(100)); }).text().expected, "at most 50 B");
}

TEST_F(ReservationFolderTest, LockThatIsNoRegularFileIsAReadableError) {
    { Reservation makes_the_folder(m_root, request(1)); }
    fs::remove(folder() / "lock");
    ASSERT_EQ(mkfifo((folder() / "lock").c_str(), 0666), 0);
    const Error error = error_of([&] { Reservation(m_root, request(1)); });
    EXPECT_EQ(error.text().where, (folder() / "lock").string());
    EXPECT_EQ(error.text().seen, "not a regular file");
    EXPECT_EQ(error.exit_status(), 2);
}

TEST_F(ReservationFolderTest, HugeClaimIsListed) {
    Reservation holder(m_root, request(60));
    EXPECT_TRUE(holder.try_to_hold());
    for (const auto& entry : fs::directory_iterator(folder())) {
        if (entry.path().extension() == ".reservation") {
            fs::resize_file(entry.path(), std::uintmax_t{1} << 40);
        }
    }
    EXPECT_EQ(reservations_text(m_root).find("host  holds 60 B"), 0U);
}

} // namespace
} // namespace spng::test
