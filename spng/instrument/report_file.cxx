#include "spng/instrument/report_file.h"

#include "spng/core/error.h"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace spng::instrument {

void write_report_file(const std::filesystem::path& path, const std::string& text,
                       const std::string& option) {
    // Renaming over a device, a pipe or a link such as /dev/stdout would replace it.
    const auto kind = std::filesystem::symlink_status(path).type();
    const bool in_place =
        kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular;
    const std::filesystem::path written = in_place ? path.string() : path.string() + ".partial";
    errno = 0;
    std::ofstream file(written);
    file << text;
    file.close();
    std::error_code problem;
    if (!file) {
        problem.assign(errno, std::generic_category());
    } else if (!in_place) {
        std::filesystem::rename(written, path, problem);
    }
    if (problem) {
        std::error_code ignored;
        if (!in_place) {
            std::filesystem::remove(written, ignored);
        }
        throw Error(ErrorKind::Output, {.what = "cannot write the file of " + option,
                                        .where = path.string(),
                                        .seen = problem.message(),
                                        .expected = "a folder that exists, with room and permission to write",
                                        .mend = "give " + option + " another path"});
    }
}

} // namespace spng::instrument
