// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_member.h"

#include "spng/core/parse_value.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace spng {

namespace {

constexpr std::array<std::pair<MemberKind, std::string_view>, 9> kinds{{{MemberKind::frame, "frame"},
                                                                        {MemberKind::runs, "runs"},
                                                                        {MemberKind::values, "values"},
                                                                        {MemberKind::shape, "shape"},
                                                                        {MemberKind::channels, "channels"},
                                                                        {MemberKind::tickinfo, "tickinfo"},
                                                                        {MemberKind::summary, "summary"},
                                                                        {MemberKind::chanmask, "chanmask"},
                                                                        {MemberKind::notes, "notes"}}};
constexpr std::string_view ending = ".npy";

} // namespace

std::string_view kind_name(MemberKind kind) {
    return kinds[static_cast<std::size_t>(kind)].second;
}

std::string member_name(const FrameMember& member) {
    return std::string(kind_name(member.kind)) + "_" + member.label + "_" + std::to_string(member.ident) +
           std::string(ending);
}

std::optional<FrameMember> parse_member_name(std::string_view name) {
    for (const auto& [kind, text] : kinds) {
        if (!name.starts_with(text) || name.substr(text.size()).substr(0, 1) != "_") {
            continue;
        }
        if (kind == MemberKind::notes && !name.starts_with("notes_" + std::string(own_notes) + "_")) {
            continue;
        }
        if (!name.ends_with(ending)) {
            throw std::invalid_argument("it does not end in .npy");
        }
        const std::string_view rest =
            name.substr(text.size() + 1, name.size() - text.size() - 1 - ending.size());
        const std::size_t last = rest.rfind('_');
        if (last == std::string_view::npos) {
            throw std::invalid_argument("it has no tag");
        }
        const auto ident = parse_value<int>(rest.substr(last + 1));
        if (!ident) {
            throw std::invalid_argument("it has no event ident of 32 bits");
        }
        return FrameMember{kind, std::string(rest.substr(0, last)), *ident};
    }
    return std::nullopt;
}

} // namespace spng
