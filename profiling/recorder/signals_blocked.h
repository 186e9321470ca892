#pragma once

#include <csignal>
#include <ctime>

namespace spng::recorder {

/// No signal reaches the calling thread while this lives. One that says that a file has grown too large is
/// taken away, since the failed write has said it already.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
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
