// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/frame.h"
#include "spng/io/frame_member.h"
#include "spng/io/frame_parts.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// Puts an event together from the arrays of a file, one member after the other, with the checks that all formats share.
class FrameAssembly {
public:
    /// @param file    for messages
    /// @param tags    to accept; "*" means all
    /// @param ending  of the names of members in messages, such as "_7.npy"
    FrameAssembly(std::string file, int ident, std::vector<std::string> tags, std::string ending);

    int ident() const { return m_ident; }

    /// Return false for members of tags that are not accepted: they need not be read.
    /// @param where  file and member, for the error
    /// @throws Error(Input) if the event has the member already
    bool wants(const FrameMember& member, const std::string& where);

    /// Take the array of a member for which wants() has returned true.
    /// @throws Error(Input) if it is invalid, see frame_parts.h
    void add(const FrameMember& member, at::Tensor array, const std::string& where);

    /// Return the event, its traces in the order in which their tags first appeared.
    /// @throws Error(Input) if it has no accepted tag, or if members are missing or contradict each other
    Frame frame() &&;

private:
    struct Tag {
        std::optional<at::Tensor> samples;
        SparseParts sparse;
        bool is_sparse = false;
        std::optional<std::vector<int>> channels;
        std::optional<TickInfo> ticks;
        std::optional<at::Tensor> summary;
    };

    bool is_accepted(const std::string& tag) const;
    Tag& tag(const std::string& name);
    bool has(const FrameMember& member);
    std::string name(MemberKind kind, const std::string& tag) const;
    std::optional<MemberKind> missing(const Tag& tag) const;
    TaggedTraces traces(const std::string& label, Tag& tag) const;
    [[noreturn]] void reject(std::string what, std::string seen, std::string expected,
                             std::string hint) const;

    std::string m_file;
    int m_ident;
    std::vector<std::string> m_accepted;
    std::string m_ending;
    std::vector<std::pair<std::string, Tag>> m_tags; ///< in the order of their first member
    ChannelMasks m_masks;
    std::optional<Notes> m_notes;
    std::vector<std::string> m_other_tags; ///< not accepted
};

} // namespace spng
