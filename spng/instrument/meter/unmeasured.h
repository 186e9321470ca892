// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng::instrument {

/// While an object of this class lives, node calls on this thread leave no record. For preparations such as the
/// warm-up.
class Unmeasured {
public:
    Unmeasured();
    ~Unmeasured();
    Unmeasured(const Unmeasured&) = delete;
    Unmeasured& operator=(const Unmeasured&) = delete;

    /// Whether an object lives on this thread.
    static bool is_on();
};

} // namespace spng::instrument
