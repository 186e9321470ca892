// SPDX-License-Identifier: Apache-2.0
// A reader with one defect of each kind, chosen by the input: the driver must find them. Inputs with a plus sign have a
// result for each power of two of their size and crash now and then.

#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

#include <atomic>
#include <bit>
#include <csignal>
#include <memory>
#include <vector>

namespace spng::fuzz {
namespace {

constexpr int inputs_before_a_crash = 200;

void run(const Input& input, Results& results) {
    const std::string& defect = input.bytes;
    if (defect == "crash") {
        std::raise(SIGSEGV);
    } else if (defect == "hang") {
        for (const std::atomic<bool> goes_on{true}; goes_on;) {
        }
    } else if (defect == "exception") {
        throw std::out_of_range("basic_string::substr");
    } else if (defect == "memory") {
        std::vector<char>(std::size_t{64} << 20).at(1) = 1;
    } else if (defect == "leak") {
        static std::vector<std::unique_ptr<std::string>> kept;
        kept.push_back(std::make_unique<std::string>(100, 'x'));
    } else if (defect == "seen") {
        throw Error(ErrorKind::Input, {.what = "wrong", .where = "here"});
    } else if (defect == "internal") {
        throw Error(ErrorKind::Internal, {.what = "wrong", .where = "here", .seen = "this"});
    } else if (defect == "error") {
        throw Error(ErrorKind::Input, {.what = "wrong", .where = "here", .seen = "this"});
    } else if (defect.find('+') != std::string::npos) {
        results.add("size " + std::string(std::bit_width(defect.size()), '*'));
        static int inputs = 0;
        if (++inputs == inputs_before_a_crash) {
            std::raise(SIGSEGV);
        }
    }
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, {}, random);
}

} // namespace

Target broken_target() {
    return {"broken", "input.txt", &run, &mutate, &text_bytes_allowed};
}

} // namespace spng::fuzz
