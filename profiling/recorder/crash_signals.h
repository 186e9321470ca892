// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>

namespace spng::recorder {

/// Signals of a crash of native code: of a fault, and of abort().
inline constexpr std::array crash_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

} // namespace spng::recorder
