// SPDX-License-Identifier: Apache-2.0
// Exhausted memory is reported in many ways; all of them become OutOfMemory.

#include "spng/device/memory/out_of_memory.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

namespace spng {
namespace {

template <class Exception>
void rethrow(const Exception& exception) {
    try {
        throw exception;
    } catch (...) {
        rethrow_readable("SPNGDecon:induction, event 3");
    }
}

c10::Error of_libtorch(const std::string& text) {
    return {{__func__, __FILE__, __LINE__}, text};
}

TEST(OutOfMemoryErrors, TextsOfLibrariesAreRecognised) {
    for (const char* text :
         {"[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 64000 bytes.",
          "CUDA error: out of memory", "cuFFT error: CUFFT_ALLOC_FAILED",
          "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate",
          "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
          "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
          "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"}) {
        EXPECT_THROW(rethrow(of_libtorch(text)), OutOfMemory) << text;
    }
    EXPECT_THROW(rethrow(std::bad_alloc()), OutOfMemory);
    EXPECT_THROW(rethrow(of_libtorch("could not create a primitive")), OutOfMemory);
    EXPECT_THROW(rethrow(std::system_error(EAGAIN, std::generic_category())), OutOfMemory)
        << "no memory for the stack of a thread";
}

TEST(OutOfMemoryErrors, FilesAreNotOurDefect) {
    const std::filesystem::filesystem_error problem("cannot open", "a/b",
                                                    std::make_error_code(std::errc::filename_too_long));
    try {
        rethrow(problem);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Output);
        EXPECT_EQ(error.text().hint, "") << "nothing to report";
        EXPECT_NE(error.text().seen.find("a/b"), std::string::npos);
    }
}

TEST(OutOfMemoryErrors, OtherErrorsKeepTheirClass) {
    for (const char* text :
         {"CUDA error: an illegal memory access was encountered", "size mismatch",
          "could not create a primitive descriptor for the convolution forward propagation primitive"}) {
        try {
            rethrow(of_libtorch(text));
            FAIL() << text;
        } catch (const OutOfMemory&) {
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Internal);
            EXPECT_EQ(error.text().where, "SPNGDecon:induction, event 3");
        }
    }
}

} // namespace
} // namespace spng
