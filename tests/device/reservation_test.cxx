// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/reservation.h"

#include "spng/core/error.h"
#include "tests/support/components.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace spng::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ReservationTest : public testing::Test {
protected:
    ReservationTest() {
        char name[] = "/tmp/spng-reservation-test-XXXXXX";
        m_root = mkdtemp(name);
    }
    ~ReservationTest() override {
        for (const pid_t child : m_children) {
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
        }
        fs::remove_all(m_root);
    }

    static ReservationRequest request(std::int64_t bytes, std::int64_t capacity = 100) {
        return {.device = "host", .bytes = bytes, .capacity = capacity, .purpose = "a test", .since = "now"};
    }

    /// Start a process that joins the queue for so many bytes, holds them as soon as it can, and lives until
    /// it is killed. It writes a byte into the pipe when it holds them.
    pid_t holder(std::int64_t bytes, int tell = -1) {
        const pid_t child = fork();
        if (child == 0) {
            const auto reservation = wait_for_reservation(m_root, request(bytes), {.poll_seconds = 0.02});
            [[maybe_unused]] const auto written = write(tell, "h", 1);
            pause();
            _exit(0);
        }
        m_children.push_back(child);
        return child;
    }

    /// Count the holders from outside, by the names of locked files alone.
    int witnessed() const {
        int holders = 0;
        for (const auto& entry : fs::directory_iterator(folder())) {
            const std::string name = entry.path().string();
            if (name.find("-holding") == std::string::npos) {
                continue;
            }
            const int file = open(name.c_str(), O_RDONLY);
            holders += file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 ? 1 : 0;
            close(file);
        }
        return holders;
    }
    bool comes_true(const std::function<bool()>& condition, std::chrono::milliseconds timeout = 5s) const {
        const auto end = std::chrono::steady_clock::now() + timeout;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) {
                return false;
            }
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }
    int claims_alive() const {
        const ReservationFolder folder(m_root, "host");
        const FileDescriptor locked = folder.lock();
        return static_cast<int>(folder.claims().size());
    }
    fs::path folder() const { return fs::path(m_root) / "host"; }

    std::string m_root;
    std::vector<pid_t> m_children;
};

TEST_F(ReservationTest, IsHeldWhileMemorySufficesAndReleased) {
    Reservation first(m_root, request(60));
    EXPECT_TRUE(first.try_to_hold());
    {
        Reservation second(m_root, request(40));
        EXPECT_TRUE(second.try_to_hold());
        Reservation third(m_root, request(1));
        EXPECT_FALSE(third.try_to_hold());
        EXPECT_EQ(witnessed(), 2);
        EXPECT_NE(third.in_front().find("holds 60 B, process " + std::to_string(getpid())),
                  std::string::npos);
        EXPECT_NE(third.in_front().find("since now, a test"), std::string::npos);
    }
    EXPECT_EQ(claims_alive(), 1);
    EXPECT_EQ(witnessed(), 1);
}

TEST_F(ReservationTest, SmallerJobsDoNotOvertakeALargeOne) {
    auto first = std::make_unique<Reservation>(m_root, request(60));
    EXPECT_TRUE(first->try_to_hold());
    Reservation large(m_root, request(90));
    Reservation small(m_root, request(10));
    EXPECT_FALSE(large.try_to_hold());
    EXPECT_FALSE(small.try_to_hold()); // although it fits beside the first
    first.reset();
    EXPECT_FALSE(small.try_to_hold());
    EXPECT_TRUE(large.try_to_hold());
    EXPECT_TRUE(small.try_to_hold());
}

TEST_F(ReservationTest, HoldersNeverExceedTheLimit) {
    int most = 0;
    int told = 0;
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    for (int i = 0; i < 6; ++i) {
        holder(50, pipes[1]);
    }
    // Each time SIGKILL ends a holder, the next in the queue becomes one within a second.
    for (int dead = 0; dead < 5; ++dead) {
        const int expected = std::min(2, 6 - dead);
        ASSERT_TRUE(comes_true(
            [&] {
                const int now = witnessed();
                most = std::max(most, now);
                return now == expected;
            },
            dead == 0 ? 5s : 1s))
            << dead << " dead, " << witnessed() << " hold";
        for (; told < std::min(dead + 2, 6); ++told) { // each reports that it holds before it is killed
            char sign = 0;
            ASSERT_EQ(read(pipes[0], &sign, 1), 1);
        }
        for (const auto& entry : fs::directory_iterator(folder())) {
            const std::string name = entry.path().filename().string();
            if (name.find("-holding") != std::string::npos) {
                const pid_t victim = std::stoi(name.substr(13));
                kill(victim, SIGKILL);
                waitpid(victim, nullptr, 0);
                std::erase(m_children, victim);
                break;
            }
        }
    }
    EXPECT_EQ(most, 2);
    EXPECT_EQ(told, 6);
    close(pipes[0]);
    close(pipes[1]);
}

TEST_F(ReservationTest, DeadWaitingProcessIsSkipped) {
    Reservation first(m_root, request(60));
    EXPECT_TRUE(first.try_to_hold());
    const pid_t waiting = holder(90);
    ASSERT_TRUE(comes_true([&] { return claims_alive() == 2; }));
    Reservation small(m_root, request(10));
    EXPECT_FALSE(small.try_to_hold());
    kill(waiting, SIGKILL);
    waitpid(waiting, nullptr, 0);
    m_children.clear();
    EXPECT_TRUE(small.try_to_hold());
}

TEST_F(ReservationTest, FilesOfDeadProcessesAndOtherFilesDoNotCount) {
    { Reservation makes_the_folder(m_root, request(1)); }
    // Files of a killed process, of a process whose id is used again, a damaged file and one of another kind,
    // all without a lock; and a locked file with an unexpected name.
    const std::vector<std::string> stale{"000000000007-999999-100-holding.reservation",
                                         "000000000008-" + std::to_string(getpid()) +
                                             "-100-holding.reservation",
                                         "nonsense.reservation", "000000000009--5-100-waiting.reservation"};
    for (const auto& name : stale) {
        std::ofstream(folder() / name) << "\x01 no JSON {";
    }
    std::ofstream(folder() / "notes.txt") << "not ours";
    std::ofstream(folder() / "locked nonsense.reservation") << "";
    const int strange = open((folder() / "locked nonsense.reservation").c_str(), O_RDONLY);
    ASSERT_EQ(flock(strange, LOCK_EX), 0);

    Reservation reservation(m_root, request(100));
    EXPECT_TRUE(reservation.try_to_hold());
    for (const auto& name : stale) {
        EXPECT_FALSE(fs::exists(folder() / name)) << name;
    }
    EXPECT_TRUE(fs::exists(folder() / "notes.txt"));
    EXPECT_TRUE(fs::exists(folder() / "locked nonsense.reservation"));
    close(strange);
}

TEST_F(ReservationTest, HolderWithOverwrittenFileCounts) {
    Reservation first(m_root, request(60));
    EXPECT_TRUE(first.try_to_hold());
    for (const auto& entry : fs::directory_iterator(folder())) {
        if (entry.path().extension() == ".reservation") {
            std::ofstream(entry.path()) << "damaged";
        }
    }
    Reservation second(m_root, request(60));
    EXPECT_FALSE(second.try_to_hold());
    EXPECT_EQ(second.in_front(), "holds 60 B, process " + std::to_string(getpid()));
}

TEST_F(ReservationTest, LimitsOfTheFolderTakePrecedence) {
    { Reservation makes_the_folder(m_root, request(1)); }
    std::ofstream(fs::path(m_root) / "limits") << "# of this machine\nbytes 1 kB\nnonsense\nslots many\n";
    std::ofstream(folder() / "limits") << "slots 2\n";
    Reservation first(m_root, request(400));
    Reservation second(m_root, request(400));
    Reservation third(m_root, request(1));
    EXPECT_TRUE(first.try_to_hold());
    EXPECT_TRUE(second.try_to_hold());
    EXPECT_FALSE(third.try_to_hold()); // memory suffices, but no slot is free
    const Error error = error_of([&] { Reservation too_large(m_root, request(1001)); });
    EXPECT_EQ(error.exit_status(), 1);
    EXPECT_EQ(error.text().seen, "1.00 kB");
    EXPECT_EQ(error.text().expected, "at most 1.00 kB");
}

TEST_F(ReservationTest, WaitingEndsByTimeoutAndBySignal) {
    Reservation first(m_root, request(100));
    EXPECT_TRUE(first.try_to_hold());
    const Error error = error_of(
        [&] { wait_for_reservation(m_root, request(1), {.timeout_seconds = 0.1, .poll_seconds = 0.02}); });
    EXPECT_EQ(error.text().what, "timeout while waiting for memory of other jobs");
    EXPECT_NE(error.text().seen.find("holds 100 B"), std::string::npos);
    const std::atomic<int> signal{SIGINT};
    EXPECT_EQ(wait_for_reservation(m_root, request(1), {.stop_signal = &signal}), nullptr);
    EXPECT_EQ(claims_alive(), 1); // no claim that timed out remains in the queue
}

TEST_F(ReservationTest, SharedFolderCanBeUsedByAll) {
    const fs::path shared = fs::path(m_root) / "shared";
    const mode_t before = umask(077);
    Reservation reservation(shared, request(1));
    umask(before);
    const auto mode = [](const fs::path& path) {
        struct stat state {};
        EXPECT_EQ(stat(path.c_str(), &state), 0) << path;
        return state.st_mode & 07777;
    };
    EXPECT_EQ(mode(shared), 01777U); // only the owner of a file may remove it
    EXPECT_EQ(mode(shared / "host"), 01777U);
    EXPECT_TRUE(reservation.try_to_hold());
    EXPECT_EQ(mode(shared / "host" / "lock"), 0666U);
    for (const auto& entry : fs::directory_iterator(shared / "host")) {
        if (entry.path().extension() == ".reservation") {
            EXPECT_EQ(mode(entry.path()), 0644U); // others must be able to test the lock
        }
    }
}

TEST_F(ReservationTest, JobsOfOtherUsersCount) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root, to become another user";
    }
    const fs::path shared = fs::path(m_root) / "shared";
    ASSERT_EQ(chmod(m_root.c_str(), 0755), 0);
    Reservation mine(shared, request(60));
    EXPECT_TRUE(mine.try_to_hold());
    const auto as_nobody = [&](std::int64_t bytes) {
        const pid_t child = fork();
        if (child == 0) {
            int answer = 2;
            if (setuid(65534) == 0) {
                try {
                    Reservation theirs(shared, request(bytes));
                    answer = theirs.try_to_hold() ? 0 : 1;
                } catch (const Error&) {
                    answer = 3;
                }
            }
            _exit(answer);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    };
    EXPECT_EQ(as_nobody(60), 1);
    EXPECT_EQ(as_nobody(40), 0);
}

TEST_F(ReservationTest, UnusableFolderIsAReadableError) {
    const fs::path file = fs::path(m_root) / "file";
    std::ofstream(file) << "";
    const auto rejected = [](const fs::path& root) {
        const Error error = error_of([&] { Reservation reservation(root, request(1)); });
        EXPECT_EQ(error.exit_status(), 2);
        EXPECT_EQ(error.text().what, "unusable folder for memory reservations");
        return error.text().seen;
    };
    EXPECT_EQ(rejected(file), "no folder");
    EXPECT_EQ(rejected(fs::path(m_root) / "missing" / "folder"), "No such file or directory");
    EXPECT_EQ(rejected("/proc/spng"), "No such file or directory");
}

TEST_F(ReservationTest, ListsHoldingAndWaitingClaims) {
    EXPECT_EQ(reservations_text(m_root), "no job holds or waits for a reservation in " + m_root + "\n");
    Reservation first(m_root, request(100));
    EXPECT_TRUE(first.try_to_hold());
    Reservation second(m_root, request(50));
    const std::string text = reservations_text(m_root);
    EXPECT_EQ(text.find("host  holds 100 B, process "), 0U) << text;
    EXPECT_NE(text.find("\nhost  waits 50 B, process "), std::string::npos) << text;
    EXPECT_EQ(reservations_text("/nonexistent"), "no job holds or waits for a reservation in /nonexistent\n");
}

} // namespace
} // namespace spng::test
