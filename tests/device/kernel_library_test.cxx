// SPDX-License-Identifier: Apache-2.0
#include "spng/device/kernel_library.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace spng;

TEST(KernelLibrary, AnUnknownValueOfTheVariableIsAnError) {
    ::setenv("SPNG_CUDA_KERNELS", "off", 1);
    try {
        load_kernel_library();
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Usage);
        EXPECT_EQ(error.text().where, "SPNG_CUDA_KERNELS");
        EXPECT_EQ(error.text().seen, "off");
        EXPECT_EQ(error.text().expected, "yes or no");
    }
    ::unsetenv("SPNG_CUDA_KERNELS");
}

} // namespace
