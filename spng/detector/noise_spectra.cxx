#include "spng/detector/noise_spectra.h"

#include "spng/core/error.h"
#include "spng/io/json_file.h"

#include <algorithm>
#include <functional>

namespace spng {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const JsonPlace& place, const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = "a noise spectrum cannot be used",
                                           .where = place.text(),
                                           .seen = seen,
                                           .expected = expected,
                                           .hint = {}});
}

std::vector<double> read_numbers(const json& object, const char* key, const JsonPlace& place) {
    std::vector<double> numbers;
    for (const json& value : json_list(object, key, place)) {
        if (!value.is_number()) {
            fail(place, std::string(key) + " holds a " + value.type_name(), "numbers only");
        }
        numbers.push_back(value.get<double>());
    }
    return numbers;
}

void check(const NoiseSpectrum& spectrum, const JsonPlace& place) {
    if (spectrum.frequency.empty() || spectrum.frequency.size() != spectrum.amplitude.size()) {
        fail(place,
             std::to_string(spectrum.frequency.size()) + " freqs, " +
                 std::to_string(spectrum.amplitude.size()) + " amps",
             "as many freqs as amps, at least one");
    }
    const auto& frequency = spectrum.frequency;
    if (std::adjacent_find(frequency.begin(), frequency.end(), std::greater_equal<>()) != frequency.end()) {
        fail(place, "freqs that do not increase", "increasing frequencies");
    }
    if (std::any_of(spectrum.amplitude.begin(), spectrum.amplitude.end(), [](double a) { return a < 0; })) {
        fail(place, "a negative amplitude", "amplitudes of 0 or more");
    }
    if (!(spectrum.period > 0) || spectrum.sample_count <= 0) {
        fail(place,
             "period " + std::to_string(spectrum.period) + ", nsamples " +
                 std::to_string(spectrum.sample_count),
             "positive numbers");
    }
}

} // namespace

std::vector<NoiseSpectrum> load_noise_spectra(const std::string& path) {
    const json document = load_json_file(path);
    const JsonPlace file{.file = path};
    if (!document.is_array() || document.empty()) {
        fail(file, document.is_array() ? "an empty list" : document.type_name(), "a list of spectra");
    }
    std::vector<NoiseSpectrum> spectra;
    for (const json& content : document) {
        const JsonPlace place = file.at("spectra", spectra.size());
        spectra.push_back({.plane = json_integer(content, "plane", place),
                           .wire_length = json_number(content, "wirelen", place),
                           .period = json_number(content, "period", place),
                           .sample_count = static_cast<int>(json_number(content, "nsamples", place)),
                           .gain = json_number(content, "gain", place),
                           .shaping = json_number(content, "shaping", place),
                           .constant = json_number(content, "const", place),
                           .frequency = read_numbers(content, "freqs", place),
                           .amplitude = read_numbers(content, "amps", place)});
        check(spectra.back(), place);
    }
    return spectra;
}

} // namespace spng
