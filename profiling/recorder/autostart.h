#pragma once

namespace spng::recorder {

/// Record a program that knows nothing of us: begin a session when SPNG_RECORD asks for one, end it when the
/// program ends. Does nothing when a session runs, when another process of the same job has the file
/// (children inherit the environment; they record if the name has %p), and after the first time. What cannot
/// be done is said on stderr; the program goes on.
void start_from_environment();

/// Complete the file also when the program ends by exit() or by a signal that nobody handles.
void complete_at_any_end();

} // namespace spng::recorder
