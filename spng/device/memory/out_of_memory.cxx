// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/out_of_memory.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

namespace spng {
namespace {

constexpr const char* less_memory =
    "fewer events in flight, -A memory_budget=..., -A batch=false, or more memory";

[[noreturn]] void out_of_memory(const std::string& what, const std::string& where, const std::string& seen) {
    throw OutOfMemory({.what = what,
                       .where = where,
                       .seen = seen,
                       .expected = "enough memory for the tensors of an event",
                       .hint = less_memory});
}

[[noreturn]] void unexpected(const std::string& where, const std::string& seen) {
    throw Error(ErrorKind::Internal, {.what = "an operation failed unexpectedly",
                                      .where = where,
                                      .seen = without_trace(seen),
                                      .hint = "please report this with the command line and the input"});
}

} // namespace

bool says_out_of_memory(const std::string& text) {
    static constexpr std::array signs{
        "DefaultCPUAllocator: ",
        "out of memory",
        "can't allocate memory",
        "std::bad_alloc",
        "CUFFT_ALLOC_FAILED",
        "CUBLAS_STATUS_ALLOC_FAILED",
        "CUDNN_STATUS_ALLOC_FAILED",
        "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
        "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        "CUDA_ERROR_OUT_OF_MEMORY",
        "unable to find an engine to execute this computation"}; // each of cuDNN's engines found no memory
    // oneDNN, if its code or buffers find no memory. Without a descriptor the operation is one that it does not have.
    static const std::string primitive = "could not create a primitive";
    if (const auto found = text.find(primitive);
        found != std::string::npos && text.compare(found + primitive.size(), 11, " descriptor") != 0) {
        return true;
    }
    return std::any_of(signs.begin(), signs.end(),
                       [&](const char* sign) { return text.find(sign) != std::string::npos; });
}

bool handles_out_of_memory() {
    try {
        rethrow_readable("");
    } catch (const OutOfMemory&) {
        return true;
    } catch (const Error&) {
        return false;
    }
}

Error current_error() {
    try {
        rethrow_readable("");
    } catch (const Error& error) {
        return error;
    }
}

std::string without_trace(const std::string& text) {
    std::size_t end = 600;
    for (const char* rest : {"\nException raised from", "\nSearch for `cuda", "\nCUDA kernel errors might"}) {
        end = std::min(end, text.find(rest));
    }
    return text.substr(0, end);
}

void rethrow_readable(const std::string& where) {
    try {
        throw;
    } catch (Error& error) {
        if (!where.empty()) {
            error.add_where(where);
        }
        throw;
    } catch (const c10::OutOfMemoryError& error) {
        out_of_memory("out of device memory", where, without_trace(error.what_without_backtrace()));
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        if (says_out_of_memory(text)) {
            out_of_memory("out of memory", where, without_trace(text));
        }
        unexpected(where, text);
    } catch (const std::bad_alloc&) {
        out_of_memory("out of memory", where, "the C++ library could not allocate memory");
    } catch (const std::filesystem::filesystem_error& error) {
        throw Error(ErrorKind::Output, {.what = "a file or folder cannot be used",
                                        .where = where,
                                        .seen = error.what(),
                                        .expected = "a path that exists and that you may use"});
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::resource_unavailable_try_again ||
            error.code() == std::errc::not_enough_memory) {
            out_of_memory("out of memory, or of threads", where, error.what());
        }
        unexpected(where, error.what());
    } catch (const std::exception& error) {
        unexpected(where, error.what());
    } catch (...) {
        unexpected(where, "an exception of unknown kind");
    }
}

} // namespace spng
