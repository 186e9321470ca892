// SPDX-License-Identifier: Apache-2.0
#include "spng/app/crash.h"

#include "spng/core/files/temporary_files.h"
#include "spng/instrument/meter/node_meter.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sys/resource.h>

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

} // namespace
} // namespace spng::app
