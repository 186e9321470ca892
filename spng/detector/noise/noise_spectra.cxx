// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/noise/noise_spectra.h"

#include "spng/core/error.h"
#include "spng/io/json_file.h"

#include <algorithm>
#include <functional>

namespace spng {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const JsonLocation& location, const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = "a noise spectrum cannot be used",
                                           .where = location.text(),
                                           .seen = seen,
                                           .expected = expected});
}

constexpr PlausibleRange length_range{0, 1e6, "mm"};
constexpr PlausibleRange period_range{1, 1e6, "ns"};
constexpr PlausibleRange count_range{1, 1e8, "samples"};

std::vector<double> read_numbers(const json& object, const char* key, const JsonLocation& location) {
    std::vector<double> numbers;
    for (const json& value : json_list(object, key, location)) {
        if (!value.is_number()) {
            fail(location, std::string(key) + " has a " + value.type_name(), "numbers only");
        }
        numbers.push_back(value.get<double>());
    }
    return numbers;
}

void check(const NoiseSpectrum& spectrum, const JsonLocation& location) {
    if (spectrum.frequency.empty() || spectrum.frequency.size() != spectrum.amplitude.size()) {
        fail(location,
             std::to_string(spectrum.frequency.size()) + " freqs, " +
                 std::to_string(spectrum.amplitude.size()) + " amps",
             "as many freqs as amps, at least one");
    }
    const auto& frequency = spectrum.frequency;
    if (std::adjacent_find(frequency.begin(), frequency.end(), std::greater_equal<>()) != frequency.end()) {
        fail(location, "freqs that do not increase", "increasing frequencies");
    }
    if (std::any_of(spectrum.amplitude.begin(), spectrum.amplitude.end(), [](double a) { return a < 0; })) {
        fail(location, "a negative amplitude", "amplitudes of 0 or more");
    }
}

} // namespace

std::vector<NoiseSpectrum> load_noise_spectra(const std::string& path) {
    const json document = load_json_file(path);
    const JsonLocation file{.file = path};
    if (!document.is_array() || document.empty()) {
        fail(file, document.is_array() ? "an empty list" : document.type_name(), "a list of spectra");
    }
    std::vector<NoiseSpectrum> spectra;
    for (const json& content : document) {
        const JsonLocation location = file.at("spectra", spectra.size());
        spectra.push_back(
            {.plane = json_integer(content, "plane", location),
             .wire_length = json_number(content, "wirelen", location, length_range),
             .period = json_number(content, "period", location, period_range),
             .sample_count = static_cast<int>(json_number(content, "nsamples", location, count_range)),
             .gain = json_number(content, "gain", location),
             .shaping = json_number(content, "shaping", location),
             .constant = json_number(content, "const", location),
             .frequency = read_numbers(content, "freqs", location),
             .amplitude = read_numbers(content, "amps", location)});
        check(spectra.back(), location);
    }
    return spectra;
}

} // namespace spng
