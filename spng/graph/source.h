#pragma once

namespace spng {

/// What a source node may be besides: one that knows, before it is asked, that nothing more will come. The
/// engines then do not ask it once more in vain, so that profiles hold no call and no event that is none.
class EndAwareSource {
public:
    virtual ~EndAwareSource() = default;

    /// True only when the next call would end the stream; false may also mean that it is not known yet.
    virtual bool at_end() const = 0;
};

} // namespace spng
