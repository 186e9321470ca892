// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/capture_control.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/core/error.h"
#include "spng/instrument/capture_switch.h"
#include "spng/instrument/control/control_server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace spng::instrument {
namespace {

namespace asio = boost::asio;

std::atomic<int> signal_pipe{-1};

/// Signal handler: only notifies the control's thread.
void on_signal(int) {
    const int before = errno;
    const char byte = 0;
    [[maybe_unused]] const auto written = write(signal_pipe, &byte, 1);
    errno = before;
}

} // namespace

struct CaptureControl::State {
    State() {
        std::array<int, 2> pipe{};
        if (pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
            incoming.assign(pipe[0]);
            signal_pipe = pipe[1];
            wait_for_signal();
        }
    }

    void wait_for_signal() {
        incoming.async_read_some(asio::buffer(byte), [this](boost::system::error_code failure, std::size_t) {
            if (!failure) {
                const bool done = recording::toggle_window() == recording::Switched::done;
                const char* const now =
                    recording::window_is_open() ? "recording continues" : "recording is paused";
                std::fprintf(stderr, "wire-cell: SIGUSR2: %s\n",
                             done ? now : "the recording cannot be switched (see --profile-control)");
                wait_for_signal();
            }
        });
    }

    asio::io_context context{1};
    asio::posix::stream_descriptor incoming{context};
    std::array<char, 1> byte{};
    std::unique_ptr<ControlServer> server;
    std::thread thread;
    struct sigaction before {};
};

CaptureControl::CaptureControl(const std::optional<ControlAddress>& address, const std::string& where)
    : m_state(std::make_unique<State>()) {
    if (address) {
        try {
            m_state->server = serve(m_state->context, *address);
        } catch (const boost::system::system_error& problem) {
            throw Error(ErrorKind::Usage, {.what = "the control of the job cannot open its socket",
                                           .where = where,
                                           .seen = problem.code().message(),
                                           .expected = "a new path in a writable folder, or a free port",
                                           .hint = "choose another path or port"});
        }
    }
    const recorder::SignalsBlocked blocked; // the program's handlers must not run on this thread
    m_state->thread = std::thread([state = m_state.get()] {
        pthread_setname_np(pthread_self(), "spng-control");
        try {
            state->context.run();
        } catch (const std::exception& problem) {
            std::fprintf(stderr, "wire-cell: the control of the job ends: %s\n", problem.what());
        }
    });
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART; // reads and writes of the job continue
    sigaction(SIGUSR2, &action, &m_state->before);
}

CaptureControl::~CaptureControl() {
    sigaction(SIGUSR2, &m_state->before, nullptr);
    m_state->context.stop();
    m_state->thread.join();
    if (const int pipe = signal_pipe.exchange(-1); pipe >= 0) {
        close(pipe);
    }
}

std::string CaptureControl::address() const {
    return m_state->server ? m_state->server->address() : "";
}

} // namespace spng::instrument
