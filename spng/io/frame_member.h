// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of the members of a frame file: <kind>_<label>_<ident>.npy.

#include <optional>
#include <string>
#include <string_view>

namespace spng {

enum class MemberKind {
    frame,    ///< (channel, tick) samples
    runs,     ///< (run, 3) row, begin tick, end tick: the samples that are not 0 (SparseSamples)
    values,   ///< (sample) the samples of the runs
    shape,    ///< (2) channels, ticks of the frame that has runs
    channels, ///< (channel) channel ids
    tickinfo, ///< (3) start [ns], tick [ns], tbin
    summary,  ///< (channel) one value per channel
    chanmask, ///< (n, 3) channel, begin tick, end tick
    notes     ///< (byte) JSON object of strings; only with the label own_notes
};

/// The label of our notes. Other notes are not part of a frame.
inline constexpr const char* own_notes = "spng";

struct FrameMember {
    MemberKind kind = MemberKind::frame;
    std::string label; ///< the tag, or the name of a chanmask
    int ident = 0;
};

std::string_view kind_name(MemberKind kind);

/// Return the name of a member, such as "frame_*_0.npy". A label may be empty and may contain any character
/// except '/'.
std::string member_name(const FrameMember& member);

/// Parse the name of a member. Return nothing if it does not begin with a kind and an underscore: such a
/// member is not part of a frame.
/// @throws std::invalid_argument, with the missing part, if the rest of the name is malformed
std::optional<FrameMember> parse_member_name(std::string_view name);

} // namespace spng
