// SPDX-License-Identifier: Apache-2.0
// Files of depositions, with the selection of those that can be simulated.

#include "spng/nodes/sim/depos/depositions.h"
#include "spng/nodes/sim/depos/depo_reader.h"
#include "tests/fuzz/mutate/arrays.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {"depo_data_", "depo_info_", ".npy",     "_0",
                                      "PK\x01\x02", "PK\x03\x04", "\x93NUMPY"};

void run(const Input& input, Results& results) {
    DepoReader reader(input.file);
    for (bool is_open = true; is_open;) {
        try {
            const auto event = reader.next();
            is_open = event.has_value();
            if (event) {
                const CheckedDepositions checked = checked_depositions(event->depositions);
                sorted_by_time(checked.depositions);
                results.add(checked.faults.dropped() > 0 ? "event with faults" : "event");
            }
        } catch (const Error& error) {
            results.add(error);
        }
    }
}

} // namespace

Target depositions_target() {
    return {"depositions", "input.npz", &run, &mutate_archive, &archive_bytes_allowed, words};
}

} // namespace spng::fuzz
