// SPDX-License-Identifier: Apache-2.0
#include "spng/device/kernel_library.h"

#include "spng/core/error.h"
#include "tests/support/components.h"

#include <gtest/gtest.h>

namespace spng::test {
namespace {

TEST(KernelLibrary, IsBesideTheLibraryAndItsAbsenceIsAnError) {
    EXPECT_EQ(kernel_library_file().filename(), "libWireCellSpngCuda.so");
    const Error error = error_of([] { load_kernel_library("/nowhere/libWireCellSpngCuda.so"); });
    EXPECT_EQ(error.kind(), ErrorKind::Device);
    EXPECT_EQ(error.text().where, "/nowhere/libWireCellSpngCuda.so");
    EXPECT_NE(error.text().hint.find("device=cpu"), std::string::npos);
}

} // namespace
} // namespace spng::test
