// SPDX-License-Identifier: Apache-2.0
#include "spng/app/print.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace spng::app {

void print_result(const std::string& text) {
    log::write_stderr_prefix();
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw Error(ErrorKind::Output, {.what = "cannot write to standard output",
                                        .where = "stdout",
                                        .seen = std::strerror(errno),
                                        .expected = "a terminal, or a file with enough space"});
    }
}

void print_message(const std::string& text) {
    log::write_stderr_prefix();
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

} // namespace spng::app
