#pragma once

namespace spng::instrument {

/// While one lives, calls of nodes on this thread leave no record: what is done to prepare for events is none
/// of their work.
class Unmeasured {
public:
    Unmeasured();
    ~Unmeasured();
    Unmeasured(const Unmeasured&) = delete;
    Unmeasured& operator=(const Unmeasured&) = delete;

    /// Whether one lives on this thread.
    static bool is_on();
};

} // namespace spng::instrument
