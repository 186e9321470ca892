// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/modules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace spng::kernels {
namespace {

std::string chosen(int capability) {
    static const std::vector<CudaModule> all{{80, false, "sm_80"}, {86, false, "sm_86"},
                                             {89, false, "sm_89"}, {90, false, "sm_90"},
                                             {75, true, "ptx_75"}, {100, true, "ptx_100"}};
    const CudaModule* best = module_for(all, capability);
    return best == nullptr ? "none" : best->data;
}

TEST(CudaModules, MachineCodeOfTheGenerationElseTheLatestPtx) {
    EXPECT_EQ(chosen(80), "sm_80");
    EXPECT_EQ(chosen(86), "sm_86");
    EXPECT_EQ(chosen(87), "sm_86"); // Jetson, same generation
    EXPECT_EQ(chosen(89), "sm_89");
    EXPECT_EQ(chosen(90), "sm_90");
    EXPECT_EQ(chosen(75), "ptx_75");
    EXPECT_EQ(chosen(120), "ptx_100");
    EXPECT_EQ(chosen(70), "none");
}

} // namespace
} // namespace spng::kernels
