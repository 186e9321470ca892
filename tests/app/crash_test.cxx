// SPDX-License-Identifier: Apache-2.0
#include "spng/app/crash.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/core/files/temporary_files.h"
#include "spng/instrument/meter/node_meter.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace spng::app {
namespace {

/// Crash inside a node call.
[[noreturn]] void crash(int signal_id) {
    report_crashes();
    instrument::NodeMeter meter({"SPNGDecon", "in\x1b[31m", "decon"});
    const instrument::NodeMeter::Call call(meter, 7, c10::kCPU, {});
    std::raise(signal_id);
    std::abort();
}

TEST(Crash, NamesTheCallAndEndsByTheSignal) {
    EXPECT_EXIT(crash(SIGABRT), testing::KilledBySignal(SIGABRT),
                "^error: wire-cell crashed \\(SIGABRT\\)\n  where:    SPNGDecon:in\\?\\[31m, event 7\n  "
                "hint:     please "
                "report this with the command line and the input\n$");
}

TEST(Crash, NamesALimitOfTheAddressSpace) {
    const auto crash_with_limit = [] {
        // Sanitizers reserve terabytes; a limit that is not reached.
        rlimit limits{rlim_t{1} << 50, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limits);
        crash(SIGABRT);
    };
    EXPECT_EXIT(crash_with_limit(), testing::KilledBySignal(SIGABRT),
                "limited to 1125899906 MB, of which [1-9][0-9]* MB are taken\n  hint: .*raise the limit");
}

TEST(Crash, RemovesTemporaryFiles) {
    const std::filesystem::path folder = test::temporary_folder("crash");
    const auto crash_while_writing = [&] {
        const TemporaryFile file(folder / "out.npz");
        std::ofstream(file.path()) << "incomplete";
        crash(SIGABRT);
    };
    EXPECT_EXIT(crash_while_writing(), testing::KilledBySignal(SIGABRT), "");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(Crash, OfAThreadThatBlocksSignalsIsReportedToo) {
    const auto crash_on_a_thread = [] {
        report_crashes();
        const recorder::SignalsBlocked blocked;
        std::thread([] { std::raise(SIGABRT); }).join();
    };
    EXPECT_EXIT(crash_on_a_thread(), testing::KilledBySignal(SIGABRT),
                "^error: wire-cell crashed \\(SIGABRT\\)");
}

TEST(Crash, OfManyThreadsIsReportedOnce) {
    const auto crash_on_threads = [] {
        report_crashes();
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([] { std::raise(SIGABRT); });
        }
        threads.front().join();
    };
    EXPECT_EXIT(crash_on_threads(), testing::KilledBySignal(SIGABRT), "^error: [^:]*\n  hint:[^:]*\n$");
}

TEST(Crash, LongNamesLeaveRoomForTheRest) {
    const auto crash_in_a_long_name = [] {
        report_crashes();
        instrument::NodeMeter meter({"SPNGDecon", std::string(2000, 'x'), "decon"});
        const instrument::NodeMeter::Call call(meter, 7, c10::kCPU, {});
        std::raise(SIGABRT);
    };
    EXPECT_EXIT(crash_in_a_long_name(), testing::KilledBySignal(SIGABRT),
                "SPNGDecon:x{200}, event 7\n  hint:");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int deeper(int level) { // NOLINT(misc-no-recursion): this is the test
    std::array<char, 4096> frame{};
    asm volatile("" : : "r"(frame.data()) : "memory"); // keep the frame
    return level < 0 ? 0 : deeper(level + 1) + frame[0];
}

TEST(Crash, OfAnExhaustedStackIsReported) {
    const auto recurse = [] {
        report_crashes();
        deeper(0);
    };
    EXPECT_EXIT(recurse(), testing::KilledBySignal(SIGSEGV), "^error: wire-cell crashed \\(SIGSEGV\\)");
}
#endif

} // namespace
} // namespace spng::app
