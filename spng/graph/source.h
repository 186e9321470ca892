// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng {

/// Mix-in for sources that can report the end of the stream ahead of time. Engines then skip the final empty
/// call, so that it does not appear in profiles.
class EndAwareSource {
public:
    virtual ~EndAwareSource() = default;

    /// @return true if the next call would end the stream; false if it would not, or if that is not known yet
    virtual bool at_end() const = 0;
};

} // namespace spng
