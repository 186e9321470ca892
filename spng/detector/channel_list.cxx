// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/channel_list.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/core/registry.h"
#include "spng/core/units.h"
#include "spng/detector/anode.h"
#include "spng/detector/anode_plane.h"
#include "spng/io/json_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <sstream>

namespace spng {
namespace {

using nlohmann::json;

const Registration<ChannelList> registration{
    {.type = "SPNGChannelList",
     .kind = "service",
     .text = "channels that are known to be bad, limits of the noise of channels, and channels with other "
             "electronics"}};

constexpr std::int64_t max_range = 1'000'000; // channels; more are a mistake

[[noreturn]] void fail(const JsonLocation& location, const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = "a channel list cannot be used",
                                           .where = location.text(),
                                           .seen = seen,
                                           .expected = expected,
                                           .hint = "docs/user-guide.md#bad-channels has an example"});
}

/// Return a short form of a value for a message.
std::string summary(const json& value) {
    const std::string text = json_text(value);
    return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

int channel_id(const json& value, const JsonLocation& location) {
    if (!value.is_number_integer()) {
        fail(location, "channel " + summary(value), "whole numbers as channels");
    }
    return value.get<int>();
}

std::vector<int> channel_ids(const json& value, const JsonLocation& location) {
    std::vector<int> ids;
    if (value.is_array()) {
        for (const json& each : value) {
            ids.push_back(channel_id(each, location));
        }
    } else if (value.is_object() && value.contains("first") && value.contains("last")) {
        const std::int64_t first = channel_id(value["first"], location);
        const std::int64_t last = channel_id(value["last"], location);
        if (last < first || last - first > max_range) {
            fail(location, "channels " + summary(value),
                 "last above first, by at most " + std::to_string(max_range));
        }
        ids.resize(static_cast<std::size_t>(last - first + 1));
        std::iota(ids.begin(), ids.end(), static_cast<int>(first));
    } else if (value.is_number_integer()) {
        ids.push_back(channel_id(value, location));
    } else {
        fail(location, "channels " + summary(value), R"(an id, a list of ids, or {"first": id, "last": id})");
    }
    return ids;
}

void read_cut(const json& info, const char* key, const JsonLocation& location, double& cut) {
    const auto found = info.find(key);
    if (found == info.end()) {
        return;
    }
    if (!found->is_number()) {
        fail(location, std::string(key) + " " + summary(*found), "a number [ADC]");
    }
    cut = found->get<double>();
}

/// Return a member of an entry of reconfig: {"from": {"gain": ..., "shaping": ...}}.
double electronics_value(const json& reconfig, const char* side, const char* key,
                         const JsonLocation& location) {
    const auto found = reconfig.find(side);
    const bool has_value = found != reconfig.end() && found->is_object() && found->contains(key) &&
                           (*found)[key].is_number() && (*found)[key].get<double>() > 0;
    if (!has_value) {
        fail(location, "reconfig " + summary(reconfig),
             R"({"from": {"gain": [MV/e], "shaping": [ns]}, "to": {...}} with numbers above 0)");
    }
    return (*found)[key].get<double>();
}

/// Read the electronics of an entry; false if it has the electronics of the detector.
bool read_electronics(const json& info, const JsonLocation& location, ChannelElectronics& own) {
    const json& reconfig = info["reconfig"];
    if (!reconfig.is_object()) {
        fail(location, "reconfig " + summary(reconfig), "an object");
    }
    if (reconfig.empty()) {
        return false;
    }
    own.gain = electronics_value(reconfig, "from", "gain", location);
    own.shaping = electronics_value(reconfig, "from", "shaping", location);
    if (reconfig.contains("to")) {
        own.nominal_gain = electronics_value(reconfig, "to", "gain", location);
        own.nominal_shaping = electronics_value(reconfig, "to", "shaping", location);
    }
    return true;
}

bool is_near(double value, double nominal, double factor) {
    return value <= nominal * factor && value * factor >= nominal;
}

std::string electronics_text(double gain, double shaping) {
    std::ostringstream text;
    text << "gain " << gain << " MV/e, shaping " << shaping << " ns";
    return text.str();
}

} // namespace

ChannelLists load_channel_lists(const std::string& path) {
    const json document = load_json_file(path);
    const JsonLocation file{.file = path};
    const bool is_known =
        document.is_object() && (document.contains("bad") || document.contains("channel_info"));
    if (!is_known) {
        fail(file, summary(document), "an object with \"bad\" or \"channel_info\"");
    }
    ChannelLists lists;
    if (document.contains("bad")) {
        for (const json& id : json_list(document, "bad", file)) {
            lists.bad.push_back(channel_id(id, file));
        }
    }
    if (document.contains("channel_info")) {
        std::size_t index = 0;
        for (const json& info : json_list(document, "channel_info", file)) {
            const JsonLocation location = file.at("channel_info", index++);
            RmsCuts cuts;
            read_cut(info, "min_rms_cut", location, cuts.low);
            read_cut(info, "max_rms_cut", location, cuts.high);
            ChannelElectronics electronics;
            const bool names_electronics = info.contains("reconfig");
            lists.has_reconfig = lists.has_reconfig || names_electronics;
            const bool is_other = names_electronics && read_electronics(info, location, electronics);
            for (const int id : channel_ids(json_member(info, "channels", location), location)) {
                RmsCuts& own = lists.cuts[id];
                own = {info.contains("min_rms_cut") ? cuts.low : own.low,
                       info.contains("max_rms_cut") ? cuts.high : own.high};
                if (is_other) {
                    lists.electronics[id] = electronics;
                } else if (names_electronics) {
                    lists.electronics.erase(id);
                }
            }
        }
    }
    return lists;
}

void ChannelList::prepare(Environment& environment) {
    const auto& wires = environment.service<WireSchemaFile>(config().wire_schema, at_key("wire_schema"));
    if (!config().filename.empty()) {
        m_lists = load_channel_lists(identify_file("channels").path.string());
    }
    if (!m_lists.has_reconfig) {
        for (const ChannelResponseEntry& entry : config().channel_response) {
            for (const int channel : entry.channels) {
                m_lists.electronics[channel] = {.gain = entry.gain, .shaping = entry.shaping};
            }
        }
    }
    auto& bad = m_lists.bad;
    bad.insert(bad.end(), config().bad.begin(), config().bad.end());
    std::sort(bad.begin(), bad.end());
    bad.erase(std::unique(bad.begin(), bad.end()), bad.end());

    std::set<int> known, listed(bad.begin(), bad.end());
    for (const auto& anode : wires.schema().anodes) {
        const auto channels = anode_channels(anode);
        known.insert(channels.begin(), channels.end());
    }
    for (const auto& [channel, cuts] : m_lists.cuts) {
        listed.insert(channel);
    }
    for (const auto& [channel, electronics] : m_lists.electronics) {
        listed.insert(channel);
    }
    std::vector<std::string> unknown;
    for (const int channel : listed) {
        if (!known.contains(channel)) {
            unknown.push_back(std::to_string(channel));
        }
    }
    if (!unknown.empty()) {
        constexpr std::size_t max_named = 8;
        const std::vector<std::string> named(unknown.begin(),
                                             unknown.begin() + std::min(unknown.size(), max_named));
        throw Error(ErrorKind::Configuration,
                    {.what = "the list of channels has channels that the detector lacks",
                     .where = config().filename.empty() ? at_key("bad") : data_file()->path.string(),
                     .seen = std::to_string(unknown.size()) + " of " + std::to_string(listed.size()) +
                             " channels: " + joined(named) + (unknown.size() > max_named ? ", ..." : ""),
                     .expected = "channels " + std::to_string(*known.begin()) + " to " +
                                 std::to_string(*known.rbegin()) + " of " + wires.config().filename,
                     .hint = "use the list of this detector, or remove these channels from it"});
    }
}

void ChannelList::require_electronics_near(const Electronics& nominal) const {
    constexpr double max_factor = 100, rounding = 1.001;
    if (nominal.model == ElectronicsModel::sampled && !electronics().empty()) {
        throw Error(
            ErrorKind::Configuration,
            {.what = "a channel list has other electronics, but the detector's are samples of a file",
             .where = name().text() + ", channel " + std::to_string(electronics().begin()->first),
             .seen = std::to_string(electronics().size()) + " channels with a gain and a shaping time",
             .expected = "electronics of the detector with a gain and a shaping time",
             .hint = "leave `response` out of noise_filter, or these channels out of the list"});
    }
    const double gain = nominal.gain * units::millivolt / units::femtocoulomb;
    for (const auto& [channel, own] : electronics()) {
        const bool is_plausible =
            is_near(own.gain, gain, max_factor) && is_near(own.shaping, nominal.shaping, max_factor);
        const bool has_target = std::isfinite(own.nominal_gain);
        const bool is_target = !has_target || (is_near(own.nominal_gain, gain, rounding) &&
                                               is_near(own.nominal_shaping, nominal.shaping, rounding));
        if (!is_plausible || !is_target) {
            throw Error(ErrorKind::Configuration,
                        {.what = is_plausible
                                     ? "a channel list corrects to other electronics than the detector's"
                                     : "the electronics of a channel differ by more than a factor 100",
                         .where = name().text() + ", channel " + std::to_string(channel),
                         .seen = is_plausible ? electronics_text(own.nominal_gain, own.nominal_shaping)
                                              : electronics_text(own.gain, own.shaping),
                         .expected = electronics_text(gain, nominal.shaping) +
                                     (is_plausible ? "" : ", within a factor 100"),
                         .hint = "units are those of the Wire-Cell Toolkit: 4.7*wc.mV/wc.fC is 7.53e-13, "
                                 "1*wc.us is 1000"});
        }
    }
}

} // namespace spng
