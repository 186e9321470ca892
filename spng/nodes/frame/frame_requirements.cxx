// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frame_requirements.h"

#include "spng/core/error.h"
#include "spng/detector/view_groups.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace spng {
namespace {

std::string idents_of(const std::vector<const AnodePlane*>& anodes) {
    std::vector<std::string> idents;
    for (const auto* anode : anodes) {
        idents.push_back(std::to_string(anode->config().ident));
    }
    return joined(idents);
}

} // namespace

const NamedTensor& waveforms_of(const TensorSet& frame, const std::string& tag) {
    const bool is_only = tag.empty() && frame.tensors().size() == 1;
    const NamedTensor* tensor = is_only ? &frame.tensors().front() : frame.find(tag);
    if (tensor == nullptr) {
        std::vector<std::string> tags;
        for (const auto& each : frame.tensors()) {
            tags.push_back("'" + each.name + "'");
        }
        throw Error(
            ErrorKind::Input,
            {.what = tag.empty() ? "the frame has several tags" : "the frame has no waveforms of that tag",
             .seen = joined(tags),
             .expected = tag.empty() ? "one tag, or the one to use in key intag" : "'" + tag + "'",
             .hint = "-A intag=TAG"});
    }
    return *tensor;
}

void require_period(double period, double expected, const std::string& hint) {
    const auto is_equal = [&](double other) { return std::abs(other - expected) <= 1e-6 * expected; };
    if (!is_equal(period)) {
        const char* const unit = is_equal(period * 1e9)   ? "seconds"
                                 : is_equal(period * 1e6) ? "milliseconds"
                                 : is_equal(period * 1e3) ? "microseconds"
                                 : is_equal(period / 1e3) ? "picoseconds"
                                                          : nullptr;
        const auto shown = [](double value) {
            std::ostringstream text;
            text.precision(15);
            text << value;
            return text.str();
        };
        throw Error(ErrorKind::Input,
                    {.what = "the sampling period of the frame is not that of the detector",
                     .seen = shown(period) + " ns" + (unit ? std::string(", as if it were in ") + unit : ""),
                     .expected = shown(expected) + " ns",
                     .hint = unit ? "give the times of the frame in nanoseconds"
                             : hint.empty() || period > 2 * expected || period < expected / 2
                                 ? "resample the frame, or set the detector's tick"
                                 : hint});
    }
}

void reject_other_channels(const ViewGroups& groups, const std::map<int, std::int64_t>& row_of_channel) {
    const auto& own = groups.channels();
    std::size_t foreign = 0;
    int example = 0;
    for (const auto& [channel, row] : row_of_channel) {
        if (!std::binary_search(own.begin(), own.end(), channel)) {
            example = foreign++ == 0 ? channel : example;
        }
    }
    if (foreign != 0) {
        const bool is_one = groups.anodes().size() == 1;
        throw Error(
            ErrorKind::Input,
            {.what = is_one ? "channels that do not belong to the anode"
                            : "channels that belong to none of the anodes",
             .seen = std::to_string(foreign) + " of " + std::to_string(row_of_channel.size()) +
                     " channels, the first is " + std::to_string(example),
             .expected = "channels " + std::to_string(own.front()) + " to " + std::to_string(own.back()) +
                         (is_one ? " of anode " : " of anodes ") + idents_of(groups.anodes()),
             .hint =
                 "select the anode with -A tpcid=N, or several separated by commas, and the detector with -A "
                 "detname=NAME; -A other_anodes=ignore skips the channels of all others"});
    }
}

void require_every_anode(const ViewGroups& groups, const std::map<int, std::int64_t>& row_of_channel) {
    std::vector<const AnodePlane*> present, absent;
    for (const auto* anode : groups.anodes()) {
        const auto& channels = anode->channels();
        const bool found = std::any_of(channels.begin(), channels.end(),
                                       [&](int channel) { return row_of_channel.contains(channel); });
        (found ? present : absent).push_back(anode);
    }
    if (!absent.empty()) {
        const auto& first = absent.front()->channels();
        throw Error(ErrorKind::Input,
                    {.what = "the frame has no channel of anode " + idents_of(absent),
                     .seen = std::to_string(row_of_channel.size()) + " channels, " +
                             (present.empty() ? "of other anodes" : "of anodes " + idents_of(present)),
                     .expected = "channels of every anode of the job; those of anode " +
                                 std::to_string(absent.front()->config().ident) + " are " +
                                 std::to_string(first.front()) + " to " + std::to_string(first.back()),
                     .hint = "select the anodes of the file with -A tpcid=N or a comma-separated list"});
    }
}

} // namespace spng
