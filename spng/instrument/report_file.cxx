#include "spng/instrument/report_file.h"

#include "spng/core/error.h"
#include "spng/core/files/output_path.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace spng::instrument {
namespace {

/// @param how  as for fopen
/// @return the reason when the text could not be written, else an empty string
std::string problem_of_writing(const std::filesystem::path& path, const char* how, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), how);
    if (file == nullptr) {
        return std::strerror(errno);
    }
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int problem = errno;
    const bool is_closed = std::fclose(file) == 0; // writes what is still buffered
    return is_written && is_closed ? "" : std::strerror(is_written ? errno : problem);
}

std::string problem_of_replacing(const std::filesystem::path& target, const std::string& text) {
    const std::filesystem::path partial = partial_path(target);
    std::string problem = problem_of_writing(partial, "wx", text);
    if (problem.empty() && std::rename(partial.c_str(), target.c_str()) != 0) {
        problem = std::strerror(errno);
    }
    if (!problem.empty()) {
        std::remove(partial.c_str());
    }
    return problem;
}

} // namespace

void write_report_file(const std::filesystem::path& path, const std::string& text,
                       const std::string& option) {
    const OutputPath target = output_path(path);
    const std::string problem = !target.problem.empty() ? target.problem
                                : target.in_place       ? problem_of_writing(target.path, "a", text)
                                                        : problem_of_replacing(target.path, text);
    if (!problem.empty()) {
        throw Error(ErrorKind::Output, {.what = "cannot write the file of " + option,
                                        .where = path.string(),
                                        .seen = problem,
                                        .expected = "a folder that exists, with room and permission to write",
                                        .hint = "give " + option + " another path"});
    }
}

} // namespace spng::instrument
