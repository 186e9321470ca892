// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/field_response.h"

#include "spng/core/cache/tensor_record.h"
#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/io/cached_file.h"
#include "spng/io/json_file.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <cmath>

namespace spng {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& seen,
                       const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = what, .where = where, .seen = seen, .expected = expected});
}

// Of known detectors: period 100 ns, 1000 samples, origin 100 to 189 mm, speed 1.1 to 1.6 mm/us, pitch 3 to 5 mm,
// and paths up to 10.5 pitches from the wire.
constexpr PlausibleRange period_range{1, 5000, "ns"};
constexpr PlausibleRange origin_range{-1e4, 1e4, "mm"};
constexpr PlausibleRange speed_range{1e-5, 1e-1, "mm/ns"};
constexpr PlausibleRange start_range{-1e6, 1e6, "ns"};
constexpr PlausibleRange pitch_range{0.1, 100, "mm"};
constexpr double max_pitches = 60; // from the central wire
constexpr double max_duration_ns = 2e6;

double whole_nanoseconds(double period) {
    const double rounded = std::round(period);
    return std::abs(period - rounded) < 0.01 * rounded ? rounded : period;
}

void read_current(const json& path, at::Tensor& current, std::int64_t row, const JsonLocation& location) {
    const json& samples = json_list(json_member(json_member(path, "current", location), "array", location),
                                    "elements", location);
    if (static_cast<std::int64_t>(samples.size()) != current.size(1)) {
        fail(location.text(), "paths of a plane have different lengths",
             std::to_string(samples.size()) + " samples",
             std::to_string(current.size(1)) + ", as the first path of the plane");
    }
    double* output = current.mutable_data_ptr<double>() + row * current.size(1);
    for (const json& sample : samples) {
        if (!sample.is_number()) {
            fail(location.text() + ", current", "a sample is not a number", sample.type_name(), "a number");
        }
        *output++ = sample.get<double>();
    }
}

PlaneResponse read_plane(const json& content, const JsonLocation& location) {
    PlaneResponse plane;
    plane.ident = json_integer(content, "planeid", location);
    plane.pitch = json_number(content, "pitch", location, pitch_range);
    const PlausibleRange reach{-max_pitches * plane.pitch, max_pitches * plane.pitch, "mm"};
    const json& paths = json_list(content, "paths", location);
    if (paths.empty()) {
        fail(location.text(), "a plane has no paths", "an empty list", "at least one path");
    }
    for (std::size_t row = 0; row < paths.size(); ++row) {
        const JsonLocation path_location = location.at("paths", row);
        const json& path = json_member(paths[row], "PathResponse", path_location);
        plane.pitch_positions.push_back(json_number(path, "pitchpos", path_location, reach));
        if (row == 0) {
            const json& array =
                json_member(json_member(path, "current", path_location), "array", path_location);
            const std::size_t samples = json_list(array, "elements", path_location).size();
            plane.current = at::empty(
                {static_cast<std::int64_t>(paths.size()), static_cast<std::int64_t>(samples)}, at::kDouble);
        }
        read_current(path, plane.current, static_cast<std::int64_t>(row), path_location);
    }
    return plane;
}

/// Give each path without any current that of the nearest path with current. Return their count.
int fill_empty_paths(PlaneResponse& plane) {
    const at::Tensor has_current = plane.current.ne(0).any(1);
    const bool* filled = has_current.const_data_ptr<bool>();
    const auto& positions = plane.pitch_positions;
    int count = 0;
    for (std::size_t path = 0; path < positions.size(); ++path) {
        std::size_t nearest = path;
        for (std::size_t other = 0; !filled[path] && other < positions.size(); ++other) {
            const auto distance = [&](std::size_t index) {
                return std::abs(positions[index] - positions[path]);
            };
            nearest =
                filled[other] && (nearest == path || distance(other) < distance(nearest)) ? other : nearest;
        }
        if (nearest != path) {
            plane.current[static_cast<std::int64_t>(path)].copy_(
                plane.current[static_cast<std::int64_t>(nearest)]);
            ++count;
        }
    }
    return count;
}

/// Fill the empty paths of all planes.
void fill_empty_paths(FieldResponse& response) {
    for (PlaneResponse& plane : response.planes) {
        if (const int count = fill_empty_paths(plane); count > 0) {
            log::info("field response", [&] {
                return response.path + ": plane " + std::to_string(plane.ident) + " has " +
                       std::to_string(count) + " paths without current, which get that of their neighbours";
            });
        }
    }
}

/// Read a file without filling empty paths.
FieldResponse read_field_response(const std::string& path) {
    const json document = load_json_file(path);
    const JsonLocation file{.file = path};
    const json& content = json_member(document, "FieldResponse", file);
    FieldResponse response{.path = path,
                           .origin = json_number(content, "origin", file, origin_range),
                           .speed = json_number(content, "speed", file, speed_range),
                           .period = whole_nanoseconds(json_number(content, "period", file, period_range)),
                           .start = json_number(content, "tstart", file, start_range),
                           .planes = {}};
    const json& planes = json_list(content, "planes", file);
    for (std::size_t index = 0; index < planes.size(); ++index) {
        const JsonLocation location = file.at("planes", index);
        response.planes.push_back(
            read_plane(json_member(planes[index], "PlaneResponse", location), location));
        const double duration = response.period * static_cast<double>(response.planes.back().current.size(1));
        if (duration > max_duration_ns) {
            fail(location.text(), "the paths of a plane are too long", std::to_string(duration) + " ns",
                 "at most 2 ms");
        }
    }
    return response;
}

} // namespace

const PlaneResponse& FieldResponse::plane(int plane_ident) const {
    std::string known;
    for (const PlaneResponse& plane : planes) {
        if (plane.ident == plane_ident) {
            return plane;
        }
        known += (known.empty() ? "" : ", ") + std::to_string(plane.ident);
    }
    fail(path, "a field response has no such plane", "plane " + std::to_string(plane_ident),
         "one of " + known);
}

FieldResponse load_field_response(const std::string& path) {
    FieldResponse response = read_field_response(path);
    fill_empty_paths(response);
    return response;
}

FieldResponse load_field_response(const DataFile& file) {
    const auto visit_plane = [](auto& record, PlaneResponse& plane) {
        record.value(plane.ident);
        record.value(plane.pitch);
        record.list(plane.pitch_positions);
        visit_tensor(record, plane.current);
    };
    auto response =
        value_of_file<FieldResponse>(file, read_field_response, [&](auto& record, FieldResponse& value) {
            record.value(value.origin);
            record.value(value.speed);
            record.value(value.period);
            record.value(value.start);
            record.list(value.planes, visit_plane);
        });
    response.path = file.path.string();
    fill_empty_paths(response);
    return response;
}

} // namespace spng
