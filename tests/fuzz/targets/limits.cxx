// SPDX-License-Identifier: Apache-2.0
// The file `limits` of a folder of reservations.

#include "spng/device/memory/reservation_folder.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {"bytes ", "slots ", "40GB", "MiB", "-1",  "9223372036854775808",
                                      "1e30",   "0x10",   "#",    "\n",  "\r\n"};

void run(const Input& input, Results& results) {
    const ReservationFolder folder(input.file.parent_path(), "host");
    const ReservationLimits limits = folder.limits({1, 1});
    if (limits.bytes < 0 || limits.slots < 0) {
        throw Defect("a negative limit");
    }
    results.add(std::to_string(limits.bytes != 1) + " bytes " + std::to_string(limits.slots != 1) + " slots");
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, words, random);
}

} // namespace

Target limits_target() {
    return {"limits", "limits", &run, &mutate, &text_bytes_allowed, words};
}

} // namespace spng::fuzz
