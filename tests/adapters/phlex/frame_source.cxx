// SPDX-License-Identifier: Apache-2.0
// A phlex source for tests. Its key `events` has one object for each data cell of the layer `event`:
//
//     { samples: FILE, type: 'int16' or 'float32', channels: FILE of int32, rows: count, tick_ns: value }
#include "spng_phlex/frame_products.h"

#include <phlex/source.hpp>

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

template <class T>
std::vector<T> read_all(const std::string& path) {
    std::ifstream stream(path, std::ios::binary | std::ios::ate);
    if (!stream) {
        throw std::runtime_error("cannot read " + path);
    }
    std::vector<T> values(static_cast<std::size_t>(stream.tellg()) / sizeof(T));
    stream.seekg(0);
    stream.read(reinterpret_cast<char*>(values.data()),
                static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

spng::RawFrame frame_of(const phlex::configuration& event, int ident) {
    const auto samples = event.get<std::string>("samples");
    const auto channels = read_all<std::int32_t>(event.get<std::string>("channels"));
    const auto rows = event.get<std::int64_t>("rows", static_cast<std::int64_t>(channels.size()));
    auto frame = event.get<std::string>("type", "int16") == "int16"
                     ? spng::RawFrame(read_all<std::int16_t>(samples), rows)
                     : spng::RawFrame(read_all<float>(samples), rows);
    frame.channel_ids.assign(channels.begin(), channels.end());
    frame.tick_ns = event.get<double>("tick_ns", 500.0);
    frame.ident = ident;
    return frame;
}

} // namespace

PHLEX_REGISTER_PROVIDERS(source, config) {
    const auto events = config.get<std::vector<phlex::configuration>>("events");
    source
        .provide("read",
                 [events](const phlex::data_cell_index& index) {
                     return frame_of(events.at(index.number()), static_cast<int>(index.number()));
                 })
        .output_product("frames", "raw", "event");
}
