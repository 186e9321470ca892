// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model_failure.h"

#include "spng/core/error.h"
#include "spng/core/tensor_checks.h"
#include "spng/core/unit_text.h"
#include "spng/device/memory/device_memory.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/io/archive/foreign_file.h"
#include "spng/nodes/dnn/model.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace spng {
namespace {

template <std::size_t Count>
bool contains_any(const std::string& text, const std::array<const char*, Count>& signs) {
    return std::any_of(signs.begin(), signs.end(),
                       [&](const char* sign) { return text.find(sign) != std::string::npos; });
}

/// A library of CUDA found no memory, no file or no driver when its first call created its state.
bool says_not_started(const std::string& text) {
    static constexpr std::array signs{"STATUS_NOT_INITIALIZED",
                                      "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED",
                                      "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
                                      "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE",
                                      "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING",
                                      "cannot open shared object file"};
    return contains_any(text, signs);
}

/// The libraries do not fit the device or its driver.
bool says_unsupported(const std::string& text) {
    static constexpr std::array signs{"ARCH_MISMATCH", "INCOMPATIBLE_CUDA_DRIVER", "INCOMPATIBLE_CUDART",
                                      "no kernel image is available"};
    return contains_any(text, signs);
}

bool names_cuda(const std::string& text) {
    static constexpr std::array signs{"CUDNN_STATUS_",    "CUBLAS_STATUS_", "CUFFT_",
                                      "CUSOLVER_STATUS_", "CUDA error",     "CUDA driver error"};
    return contains_any(text, signs);
}

std::string free_on(c10::Device device) {
    const DeviceMemory memory = device_memory(device);
    return memory.free < 0 ? "" : "; free on " + device.str() + ": " + format_bytes(memory.free);
}

} // namespace

std::string failure_reason(const std::exception& failure) {
    std::string text = failure.what();
    text = text.substr(0, text.find("\nException raised from"));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
        text.pop_back();
    }
    const auto marker = text.rfind("Error: ");
    const auto begin = text.rfind('\n', marker == std::string::npos ? text.size() : marker);
    return marker == std::string::npos || begin == std::string::npos ? text.substr(0, 600)
                                                                     : text.substr(begin + 1, 600);
}

void throw_if_device_failed(const std::string& seen, const std::string& file, c10::Device device) {
    if (device.is_cpu()) {
        return;
    }
    if (says_not_started(seen)) {
        throw Error(ErrorKind::Device,
                    {.what = "a CUDA library that the network needs does not start",
                     .where = file,
                     .seen = seen + free_on(device),
                     .expected = "memory for the library on the device, and libraries of LibTorch's release",
                     .hint = "free memory on the device, use another device or -A device=cpu; an "
                             "LD_LIBRARY_PATH with another cuDNN or cuBLAS must not precede LibTorch's"});
    }
    if (says_unsupported(seen)) {
        throw Error(ErrorKind::Device,
                    {.what = "the CUDA libraries of the network do not support this device or driver",
                     .where = file,
                     .seen = seen,
                     .expected = "a device and a driver that this LibTorch supports",
                     .hint = "update the driver, use another device, another LibTorch, or -A device=cpu"});
    }
    if (names_cuda(seen)) {
        throw Error(ErrorKind::Device, {.what = "the device failed in the network",
                                        .where = file,
                                        .seen = seen + free_on(device),
                                        .expected = "a forward without an error of CUDA",
                                        .hint = "run the event again, on another device, or with -A "
                                                "device=cpu; if it fails there too, the network is the "
                                                "reason"});
    }
}

void throw_forward_failure(const std::exception& failure, const std::string& file, const at::Tensor& input) {
    const std::string seen = failure_reason(failure);
    if (says_out_of_memory(failure.what())) {
        throw ModelOutOfMemory(seen);
    }
    throw_if_device_failed(seen, file, input.device());
    const bool needs_cuda =
        input.is_cpu() && (seen.find("CUDA") != std::string::npos || seen.find("cuda") != std::string::npos);
    throw Error(ErrorKind::Model,
                {.what = "the network failed on the input of this job",
                 .where = file,
                 .seen = seen,
                 .expected = "a network that accepts " + describe_tensor(input),
                 .hint = needs_cuda ? "this model was traced for CUDA: save it again from the CPU, or run "
                                      "it with -A device=cuda"
                                    : "check the features and their order, transpose, and the shape"});
}

void throw_if_load_lacks_device(const std::exception& failure, const std::string& file, std::uintmax_t bytes,
                                c10::Device device) {
    const std::string seen = failure_reason(failure);
    if (says_out_of_memory(failure.what())) {
        throw OutOfMemory({.what = "not enough memory for the weights of the network",
                           .where = file,
                           .seen = seen,
                           .expected = std::to_string(bytes) + " bytes on " + device.str(),
                           .hint = "free memory on the device, use another device or -A device=cpu"});
    }
    throw_if_device_failed(seen, file, device);
}

void throw_wrong_output(const std::string& seen, const std::string& file) {
    throw Error(ErrorKind::Model, {.what = "the network does not return one tensor",
                                   .where = file,
                                   .seen = "an output of " + seen,
                                   .expected = "one tensor",
                                   .hint = "check the features and their order, transpose, and the shape"});
}

void throw_load_failure(const std::filesystem::path& file, const std::string& where, const std::string& seen,
                        const std::string& expected, const std::string& or_else) {
    const auto other = foreign_file(file);
    std::error_code ignored;
    throw Error(
        ErrorKind::Model,
        {.what = "cannot load a model file",
         .where = where,
         .seen = other ? other->kind
                       : std::to_string(std::filesystem::file_size(file, ignored)) + " bytes; " + seen,
         .expected = expected,
         .hint = other ? other->hint : "compare its size and checksum with the original, " + or_else});
}

std::uintmax_t model_file_size(const std::filesystem::path& file, const std::string& expected) {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(file, problem);
    if (problem) {
        throw Error(ErrorKind::Model, {.what = "cannot read a model file",
                                       .where = file.string(),
                                       .seen = problem.message(),
                                       .expected = expected});
    }
    return bytes;
}

} // namespace spng
