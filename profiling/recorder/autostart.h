// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng::recorder {

/// Start a session if SPNG_RECORD is set, and finalize its file when the program ends. Do nothing after the
/// first call, while a session runs, or when another process of the same job writes the file: child processes
/// inherit the environment and record only if the name contains %p. Errors go to stderr; the program goes on.
void start_from_environment();

/// Finalize the file also when the program ends by exit() or by a signal without a handler.
void finalize_at_exit();

} // namespace spng::recorder
