#pragma once
// The names of a frame file's members: <kind>_<label>_<ident>.npy.

#include <optional>
#include <string>
#include <string_view>

namespace spng {

enum class MemberKind {
    frame,    ///< (channel, tick) samples
    channels, ///< (channel) numbers
    tickinfo, ///< (3) start [ns], tick [ns], tbin
    summary,  ///< (channel) one number each
    chanmask  ///< (n, 3) channel, begin tick, end tick
};

struct FrameMember {
    MemberKind kind = MemberKind::frame;
    std::string label; ///< the tag; of a chanmask, its name
    int ident = 0;
};

std::string_view kind_name(MemberKind kind);

/// "frame_*_0.npy". A label may hold anything but '/', also underscores or nothing at all.
std::string member_name(const FrameMember& member);

/// What the name says; nothing when the name does not begin with one of the kinds and an underscore: such a
/// member is no part of a frame. Throws std::invalid_argument, whose text says what is missing, when it does
/// but goes on wrongly.
std::optional<FrameMember> parse_member_name(std::string_view name);

} // namespace spng
