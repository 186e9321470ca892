// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model_failure.h"

#include "spng/core/error.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/nodes/dnn/model.h"

#include <cctype>

namespace spng {

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

void throw_forward_failure(const std::exception& failure, const std::string& file, const at::Tensor& input) {
    const std::string seen = failure_reason(failure);
    if (says_out_of_memory(failure.what())) {
        throw ModelOutOfMemory(seen);
    }
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

void throw_wrong_output(const std::string& seen, const std::string& file) {
    throw Error(ErrorKind::Model, {.what = "the network does not return one tensor",
                                   .where = file,
                                   .seen = "an output of " + seen,
                                   .expected = "one tensor",
                                   .hint = "check the features and their order, transpose, and the shape"});
}

void throw_load_failure(const std::string& where, std::uintmax_t bytes, const std::string& seen,
                        const std::string& expected, const std::string& or_else) {
    throw Error(ErrorKind::Model, {.what = "cannot load a model file",
                                   .where = where,
                                   .seen = std::to_string(bytes) + " bytes; " + seen,
                                   .expected = expected,
                                   .hint = "compare its size and checksum with the original, " + or_else});
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
