// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/input_report.h"

#include "spng/core/unit_text.h"
#include "spng/instrument/report/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace spng::instrument {
namespace {

using nlohmann::json;

struct CountColumn {
    const char* title;
    const char* key;
    std::uint64_t ChannelCounts::*member;
};

constexpr std::array<CountColumn, 9> count_columns{{
    {"channels", "channels", &ChannelCounts::channels},
    {"absent", "absent", &ChannelCounts::absent},
    {"NaN", "not_finite", &ChannelCounts::not_finite},
    {"out of range", "out_of_range", &ChannelCounts::out_of_range},
    {"dead", "constant", &ChannelCounts::constant},
    {"masked", "masked", &ChannelCounts::masked},
    {"partly masked", "partly_masked", &ChannelCounts::partly_masked},
    {"saturated", "saturated", &ChannelCounts::saturated},
    {"saturated samples", "saturated_samples", &ChannelCounts::saturated_samples},
}};

struct FitColumn {
    const char* title;
    const char* key;
    std::optional<FitQuantity> PlaneReport::*member;
    int decimals;
    double unit;
};

constexpr std::array<FitColumn, 4> fit_columns{{
    {"noise (expected) [ADC]", "noise_adc", &PlaneReport::noise, 1, 1},
    {"polarity (expected)", "polarity", &PlaneReport::polarity, 2, 1},
    {"lobe order (expected)", "lobe_order", &PlaneReport::lobes, 2, 1},
    {"shaping (expected) [us]", "shaping_ns", &PlaneReport::shaping, 2, 1000},
}};

std::string mean(std::uint64_t sum, std::uint64_t events) {
    return format_fixed(static_cast<double>(sum) / static_cast<double>(events), sum % events == 0 ? 0 : 1);
}

std::string fit_text(const FitColumn& column, const PlaneReport& plane) {
    const auto& quantity = plane.*column.member;
    if (!quantity) {
        return "-";
    }
    return format_fixed(quantity->seen / column.unit, column.decimals) + " (" +
           format_fixed(quantity->expected / column.unit, column.decimals) + ")" +
           (quantity->fits ? "" : " !");
}

} // namespace

ChannelCounts& ChannelCounts::operator+=(const ChannelCounts& other) {
    for (const auto& column : count_columns) {
        this->*column.member += other.*column.member;
    }
    return *this;
}

std::string plane_name(const InputReport::Plane& plane) {
    return std::string(1, "UVW"[plane.second]) + " of anode " + std::to_string(plane.first);
}

void NetworkNoise::join(const NetworkNoise& other) {
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
    events += other.events;
}

void InputReport::merge(const InputReport& other) {
    events += other.events;
    doubtful_events += other.doubtful_events;
    for (const auto& [key, from] : other.planes) {
        PlaneReport& plane = planes[key];
        plane.counts += from.counts;
        for (const auto& column : fit_columns) {
            if (!(plane.*column.member)) {
                plane.*column.member = from.*column.member;
            }
        }
    }
    warnings.insert(warnings.end(), other.warnings.begin(), other.warnings.end());
    network_inputs.insert(other.network_inputs.begin(), other.network_inputs.end());
    for (const NetworkNoise& from : other.network_noise) {
        const auto own = std::find_if(network_noise.begin(), network_noise.end(), [&](const auto& each) {
            return each.node == from.node && each.view == from.view;
        });
        if (own == network_noise.end()) {
            network_noise.push_back(from);
        } else {
            own->join(from);
        }
    }
}

std::string InputReport::text(std::size_t width) const {
    if (events == 0) {
        return {};
    }
    std::vector<std::string> header{"input, mean per event"};
    std::vector<std::function<std::string(const PlaneReport&)>> cells;
    for (const auto& column : count_columns) {
        bool any = false;
        for (const auto& [key, plane] : planes) {
            any = any || plane.counts.*column.member > 0;
        }
        if (any) {
            header.emplace_back(column.title);
            cells.emplace_back([this, &column](const PlaneReport& plane) {
                return mean(plane.counts.*column.member, events);
            });
        }
    }
    for (const auto& column : fit_columns) {
        bool any = false;
        for (const auto& [key, plane] : planes) {
            any = any || (plane.*column.member).has_value();
        }
        if (any) {
            header.emplace_back(column.title);
            cells.emplace_back([&column](const PlaneReport& plane) { return fit_text(column, plane); });
        }
    }
    TextTable table(std::move(header));
    ChannelCounts total;
    for (const auto& [key, plane] : planes) {
        total += plane.counts;
        std::vector<std::string> row{plane_name(key)};
        for (const auto& cell : cells) {
            row.push_back(cell(plane));
        }
        table.add_row(std::move(row));
    }
    const std::string sum = total.unusable() == 0
                                ? "no channel is absent, NaN, out of range, dead or masked"
                                : mean(total.unusable(), events) + " of " + mean(total.channels, events) +
                                      " channels cannot be used";
    const std::string doubtful = doubtful_events == 0
                                     ? ""
                                     : std::to_string(doubtful_events) + " of " + std::to_string(events) +
                                           " events have warnings, listed in their note \"warnings\"\n";
    return table.text(width) + sum + "\n" + doubtful;
}

nlohmann::json InputReport::json() const {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [key, plane] : planes) {
        nlohmann::json entry{{"anode", key.first}, {"plane", std::string(1, "UVW"[key.second])}};
        for (const auto& column : count_columns) {
            entry[column.key] = plane.counts.*column.member;
        }
        for (const auto& column : fit_columns) {
            const auto& quantity = plane.*column.member;
            entry[column.key] = quantity ? nlohmann::json{{"seen", quantity->seen},
                                                          {"expected", quantity->expected},
                                                          {"samples", quantity->samples},
                                                          {"fits", quantity->fits}}
                                         : nlohmann::json(nullptr);
        }
        list.push_back(std::move(entry));
    }
    nlohmann::json noise = nlohmann::json::array();
    for (const NetworkNoise& each : network_noise) {
        noise.push_back({{"node", each.node},
                         {"view", each.view},
                         {"lowest", each.lowest},
                         {"highest", each.highest},
                         {"min_tried", each.min_tried},
                         {"max_tried", each.max_tried},
                         {"events", each.events},
                         {"fits", each.fits()}});
    }
    return {{"events", events},     {"doubtful_events", doubtful_events}, {"planes", std::move(list)},
            {"warnings", warnings}, {"network_noise", std::move(noise)},  {"network_inputs", network_inputs}};
}

} // namespace spng::instrument
