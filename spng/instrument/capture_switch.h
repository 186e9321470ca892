// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switch of the recording, for control from outside of a run.

namespace spng::instrument::recording {

enum class Switched {
    done,
    already,          ///< the recording was already on, or off
    nothing_recorded, ///< the run was started without --record
    by_events         ///< selected events open and close the capture window
};

/// Open or close the capture window of the recording, and that of profilers that wait for cudaProfilerStart.
/// Thread-safe; takes at most as long as CUPTI needs to switch.
Switched switch_window(bool open);

/// Close the capture window if it is open, else open it.
Switched toggle_window();

/// Whether the capture window is open.
bool window_is_open();

} // namespace spng::instrument::recording
