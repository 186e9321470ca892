// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiling/recorder/crash_signals.h"

#include <csignal>
#include <ctime>

namespace spng::recorder {

/// Block the signals of the calling thread during the lifetime of the object, except those of a crash, whose report
/// (app/crash.h) would be lost. Consume a pending SIGXFSZ (file too large), because the failed write has reported it
/// already.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        for (const int crash : crash_signals) {
            sigdelset(&all, crash);
        }
        pthread_sigmask(SIG_SETMASK, &all, &m_before);
    }
    ~SignalsBlocked() {
        sigset_t too_large;
        sigemptyset(&too_large);
        sigaddset(&too_large, SIGXFSZ);
        const timespec at_once{};
        if (sigismember(&m_before, SIGXFSZ) == 0) {
            while (sigtimedwait(&too_large, nullptr, &at_once) == SIGXFSZ) {
            }
        }
        pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t m_before;
};

} // namespace spng::recorder
