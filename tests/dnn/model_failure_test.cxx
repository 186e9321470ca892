// SPDX-License-Identifier: Apache-2.0
// The error of a network that fails names the cause: memory, a library of CUDA, the device, or the input.

#include "spng/nodes/dnn/model_failure.h"

#include "spng/nodes/dnn/model.h"
#include "tests/support/components.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace spng {
namespace {

constexpr at::IntArrayRef::value_type shape[] = {1, 3, 4, 8};

/// The error for a failure of the network on a device that is not the CPU.
Error error_for(const std::string& text) {
    const at::Tensor input = at::empty(shape, at::kMeta);
    return test::error_of([&] {
        throw_forward_failure(std::runtime_error("Traceback:\nRuntimeError: " + text), "net.ts", input);
    });
}

TEST(ModelFailure, LibraryThatDoesNotStartIsNotTheFaultOfTheFeatures) {
    for (const char* text : {"cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
                             "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
                             "cuDNN error: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"}) {
        const Error error = error_for(text);
        EXPECT_EQ(error.kind(), ErrorKind::Device) << text;
        EXPECT_NE(error.text().seen.find(text), std::string::npos) << error.what();
        EXPECT_NE(error.text().hint.find("free memory"), std::string::npos) << error.what();
        EXPECT_NE(error.text().hint.find("LD_LIBRARY_PATH"), std::string::npos) << error.what();
        EXPECT_EQ(error.text().hint.find("features"), std::string::npos) << error.what();
    }
}

TEST(ModelFailure, LibraryOfAnotherDevice) {
    for (const char* text : {"cuDNN error: CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH",
                             "CUDA error: no kernel image is available for execution on the device"}) {
        EXPECT_NE(error_for(text).text().hint.find("update the driver"), std::string::npos) << text;
    }
}

TEST(ModelFailure, DeviceFails) {
    for (const char* text :
         {"cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
          "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`",
          "CUDA error: an illegal memory access was encountered"}) {
        const Error error = error_for(text);
        EXPECT_EQ(error.kind(), ErrorKind::Device) << text;
        EXPECT_NE(error.text().hint.find("another device"), std::string::npos) << error.what();
    }
}

TEST(ModelFailure, ExhaustedMemory) {
    const at::Tensor input = at::empty(shape, at::kMeta);
    for (const char* text : {"cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
                             "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
                             "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                             "CUDA out of memory. Tried to allocate 1 GiB"}) {
        EXPECT_THROW(throw_forward_failure(std::runtime_error(text), "net.ts", input), ModelOutOfMemory)
            << text;
    }
}

TEST(ModelFailure, InputThatDoesNotFit) {
    const Error error = error_for("Given groups=1, expected input to have 3 channels, but got 2 channels");
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_NE(error.text().hint.find("features"), std::string::npos);
}

TEST(ModelFailure, ModelTracedForCuda) {
    const at::Tensor input = at::empty(shape);
    const Error error = test::error_of([&] {
        throw_forward_failure(std::runtime_error("expected a tensor on CUDA error"), "net.ts", input);
    });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_NE(error.text().hint.find("traced for CUDA"), std::string::npos) << error.what();
}

} // namespace
} // namespace spng
