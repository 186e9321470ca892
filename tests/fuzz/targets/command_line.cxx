// SPDX-License-Identifier: Apache-2.0
// The command line of wire-cell: one argument per line.

#include "spng/app/command_line.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

#include <sstream>

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {"-c\n",
                                      "-A\n",
                                      "x=1",
                                      "=",
                                      "--record",
                                      "--profile-events=",
                                      "--profile-schedule=",
                                      "--profile-control=",
                                      "tcp:",
                                      "unix:",
                                      "--nvtx-level",
                                      "--timing",
                                      "-L",
                                      "-t",
                                      "--on-error",
                                      "--progress",
                                      "99999999999999999999",
                                      "-1",
                                      "\n",
                                      ",",
                                      "-"};

void run(const Input& input, Results&) {
    std::vector<std::string> lines{"wire-cell"};
    std::istringstream stream(input.bytes);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    std::vector<const char*> arguments;
    for (const std::string& line : lines) {
        arguments.push_back(line.c_str());
    }
    app::parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, words, random);
}

} // namespace

Target command_line_target() {
    return {"command_line", "input.txt", &run, &mutate, &text_bytes_allowed, words};
}

} // namespace spng::fuzz
