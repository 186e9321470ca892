// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/electronics/electronics_file.h"

#include "spng/core/error.h"
#include "spng/core/units.h"
#include "spng/io/json_file.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace spng {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const JsonLocation& file, const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = "the samples of the electronics cannot be used",
                                           .where = file.text(),
                                           .seen = seen,
                                           .expected = expected});
}

std::vector<double> numbers(const json& document, const char* key, const JsonLocation& file) {
    std::vector<double> result;
    for (const json& value : json_list(document, key, file)) {
        if (!value.is_number()) {
            fail(file, std::string(key) + " has a " + value.type_name(), "numbers only");
        }
        result.push_back(value.get<double>());
    }
    return result;
}

} // namespace

Electronics load_sampled_electronics(const std::string& path, double postgain) {
    const json document = load_json_file(path);
    const JsonLocation file{.file = path};
    std::vector<double> times = numbers(document, "times", file);
    std::vector<double> amplitudes = numbers(document, "amplitudes", file);
    if (times.size() < 2 || times.size() != amplitudes.size()) {
        fail(file,
             std::to_string(times.size()) + " times, " + std::to_string(amplitudes.size()) + " amplitudes",
             "as many times as amplitudes, at least two");
    }
    constexpr PlausibleRange plausible{-1e9, 1e9, "ns"};
    if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end() ||
        !plausible.contains(times.front()) || !plausible.contains(times.back())) {
        fail(file, "times that do not increase, or are beyond a second", "increasing times [ns]");
    }
    const auto peak = std::max_element(amplitudes.begin(), amplitudes.end());
    constexpr PlausibleRange heights{1e-15, 1e-9, "MV/e"}; // 0.006 to 6000 mV/fC
    if (!heights.contains(*peak)) {
        fail(file, "a largest sample of " + json(*peak).dump() + " MV/e", heights.text());
    }
    if (!(times[static_cast<std::size_t>(peak - amplitudes.begin())] > 0)) {
        fail(file, "the largest sample is not after time 0",
             "samples of the output after a pulse of charge at time 0");
    }
    for (double& amplitude : amplitudes) {
        amplitude /= units::millivolt / units::femtocoulomb;
    }
    return sampled_electronics(std::move(times), std::move(amplitudes), postgain);
}

} // namespace spng
