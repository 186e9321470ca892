// SPDX-License-Identifier: Apache-2.0
// Read the text files of /proc.

#include "spng/core/files/proc_files.h"

#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace spng::test {
namespace {

TEST(ProcFiles, ValueIsFoundByItsWholeName) {
    const auto file = temporary_folder("proc_files") / "facts";
    std::ofstream(file) << "VmHWM2:\t  1 kB\nno colon\nVmHWM:\t  888 kB\nmodel name\t: A CPU: fast\nempty:\n";
    EXPECT_EQ(proc_value(file.c_str(), "model name"), "A CPU: fast");
    EXPECT_EQ(proc_value(file.c_str(), "empty"), "");
    EXPECT_EQ(proc_value(file.c_str(), "model"), "");
    EXPECT_EQ(proc_bytes(file.c_str(), "VmHWM"), 888 * 1024);
    EXPECT_EQ(proc_bytes(file.c_str(), "empty"), -1);
    EXPECT_EQ(proc_bytes("/absent", "VmHWM"), -1);
}

TEST(ProcFiles, ThisProcessStartedAfterTheMachine) {
    std::ifstream uptime("/proc/uptime");
    double seconds_since_boot = 0;
    ASSERT_TRUE(uptime >> seconds_since_boot);
    const double start = std::stod(process_start_ticks()) / static_cast<double>(sysconf(_SC_CLK_TCK));
    EXPECT_GT(start, 0);
    EXPECT_LE(start, seconds_since_boot + 1);
}

} // namespace
} // namespace spng::test
