#pragma once
// Recording, switched on and off from outside of a run.

namespace spng::instrument::recording {

enum class Switched {
    done,
    already,          ///< it was on, or off, before
    nothing_recorded, ///< the run was started without --record
    by_events         ///< the window was given to certain events, which open and close it
};

/// Open or close the window of the recording, and that of profilers that wait for cudaProfilerStart. From any
/// thread; takes at most the time of CUPTI's switching.
Switched switch_window(bool open);

/// Close it if it is open, open it if it is closed.
Switched toggle_window();

/// Whether something is recorded at this moment.
bool window_is_open();

} // namespace spng::instrument::recording
