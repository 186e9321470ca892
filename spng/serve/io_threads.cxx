// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/io_threads.h"

#include "profiling/recorder/signals_blocked.h"

namespace spng {

IoThreads::IoThreads(int count) : m_work(boost::asio::make_work_guard(m_context)) {
    const recorder::SignalsBlocked blocked; // the threads inherit the mask
    for (int i = 0; i < count; ++i) {
        m_threads.emplace_back([this] { m_context.run(); });
    }
}

IoThreads::~IoThreads() {
    m_work.reset();
    m_context.stop();
    for (std::thread& thread : m_threads) {
        thread.join();
    }
}

} // namespace spng
