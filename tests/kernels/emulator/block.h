// SPDX-License-Identifier: Apache-2.0
#pragma once
// Run a block of CUDA threads on one thread of the host. Each device thread is a fiber that runs until it meets
// the others at a barrier or a warp operation. Behaviour that CUDA leaves undefined throws a Violation: threads
// that wait at different barriers or warp operations, threads that never arrive, shared memory out of bounds,
// read before it is written, or written and read by two threads without a barrier between. A seed determines
// the order in which threads run between barriers.

#include "tests/kernels/emulator/bank_counter.h"

#include <ucontext.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace spng::emulation {

struct Violation : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Dimensions {
    unsigned x = 1, y = 1, z = 1;
};

constexpr unsigned lanes = 32;

/// The point at which a thread waits.
enum class Meeting { none, block, warp, end };

struct Thread {
    unsigned id = 0; ///< in the block
    Dimensions index;
    Meeting waits = Meeting::none;
    std::size_t shared_used = 0; ///< bytes that this thread has taken from SharedMemory
    ucontext_t start = {};
    std::jmp_buf position = {}; ///< to resume at
    bool started = false;
};

/// The latest accesses to one element of shared memory, each with the barriers before it.
struct Access {
    bool written = false;
    unsigned writer = 0;
    std::uint64_t writer_block_epoch = 0, writer_warp_epoch = 0;
    bool read = false, many_readers = false, many_warps = false;
    unsigned reader = 0;
    std::uint64_t reader_block_epoch = 0, reader_warp_epoch = 0;
};

/// Runs blocks one after the other. The threads' stacks are kept from block to block and from launch to launch.
class BlockRunner {
public:
    /// @param threads  of a block, whole warps
    explicit BlockRunner(unsigned threads)
        : m_stacks(std::make_unique_for_overwrite<std::byte[]>(threads * stack_bytes)), m_threads(threads),
          m_warps(threads / lanes), m_order(threads) {
        if (threads == 0 || threads % lanes != 0) {
            throw Violation("a block of " + std::to_string(threads) + " threads is not made of whole warps");
        }
    }

    /// Set what the next launch has.
    /// @param shared_bytes  of dynamic shared memory
    /// @param seed          0: threads in rising order; 1: in falling order; else: at random
    void begin_launch(std::size_t shared_bytes, std::uint64_t seed) {
        m_shared.resize(shared_bytes);
        m_access.resize(shared_bytes);
        m_seed = seed;
        m_random.seed(seed);
        for (unsigned i = 0; i < m_threads.size(); ++i) {
            m_order[i] = seed == 1 ? static_cast<unsigned>(m_threads.size()) - 1 - i : i;
        }
    }

    /// Run the kernel's body for every thread of one block.
    /// @throws Violation
    void run(const std::function<void()>& body, Dimensions block_index, Dimensions grid);

    Thread& thread() { return *m_current; }
    Dimensions block_index() const { return m_block_index; }
    Dimensions grid() const { return m_grid; }
    Dimensions size() const { return {static_cast<unsigned>(m_threads.size()), 1, 1}; }

    /// __syncthreads. Does not combine `value`, since the kernels use no such barrier.
    void meet_block();
    /// A warp operation: return the values of all 32 lanes once all are at the same operation.
    /// @param orders_memory  true only for __syncwarp
    const std::uint64_t* meet_warp(const char* operation, unsigned mask, std::uint64_t value,
                                   bool orders_memory);

    std::byte* shared(std::size_t offset) { return m_shared.data() + offset; }
    std::size_t shared_bytes() const { return m_shared.size(); }
    void note_write(std::size_t offset, std::size_t bytes);
    void note_read(std::size_t offset, std::size_t bytes);
    [[noreturn]] void fail(const std::string& what);

private:
    static constexpr std::size_t stack_bytes = 1 << 16;

    struct Warp {
        const char* operation = nullptr;
        unsigned arrived = 0;
        std::uint64_t epoch = 0;
        bool orders_memory = false;
        std::uint64_t values[lanes] = {}, results[lanes] = {};
    };

    static void enter();
    void count(std::size_t offset, std::size_t bytes) const;
    void resume(Thread& thread);
    void wait(Meeting meeting);
    bool same_epoch(std::uint64_t block_epoch) const { return block_epoch == m_block_epoch; }
    unsigned warp_of(unsigned thread) const { return thread / lanes; }
    std::string waiting() const;

    std::unique_ptr<std::byte[]> m_stacks;
    std::vector<Thread> m_threads;
    std::vector<Warp> m_warps;
    std::vector<std::byte> m_shared;
    std::vector<Access> m_access;
    std::vector<unsigned> m_order;
    std::uint64_t m_seed = 0;
    std::mt19937_64 m_random;
    std::function<void()> m_body;
    Dimensions m_block_index, m_grid;
    Thread* m_current = nullptr;
    std::jmp_buf m_scheduler = {};
    std::uint64_t m_block_epoch = 1;
    unsigned m_at_barrier = 0;
    std::string m_violation;
};

/// The running block.
inline BlockRunner* running = nullptr;

inline void BlockRunner::enter() {
    while (true) { // a block each time
        running->m_body();
        running->wait(Meeting::end);
    }
}

inline void BlockRunner::resume(Thread& thread) {
    m_current = &thread;
    if (_setjmp(m_scheduler) == 0) {
        if (thread.started) {
            _longjmp(thread.position, 1);
        }
        thread.started = true;
        setcontext(&thread.start);
    }
}

[[gnu::noinline]] inline void BlockRunner::wait(Meeting meeting) {
    m_current->waits = meeting;
    if (_setjmp(m_current->position) == 0) {
        _longjmp(m_scheduler, 1);
    }
}

inline void BlockRunner::fail(const std::string& what) {
    m_violation = what + " (block " + std::to_string(m_block_index.x) + ", thread " +
                  std::to_string(m_current->id) + ")";
    _longjmp(m_scheduler, 1);
}

inline std::string BlockRunner::waiting() const {
    unsigned block = 0, warp = 0, ended = 0;
    for (const Thread& thread : m_threads) {
        block += thread.waits == Meeting::block;
        warp += thread.waits == Meeting::warp;
        ended += thread.waits == Meeting::end;
    }
    return std::to_string(block) + " threads wait at the block's barrier, " + std::to_string(warp) +
           " in a warp operation, " + std::to_string(ended) + " have ended";
}

inline void BlockRunner::run(const std::function<void()>& body, Dimensions block_index, Dimensions grid) {
    m_body = body;
    m_block_index = block_index;
    m_grid = grid;
    m_at_barrier = 0;
    m_violation.clear();
    std::fill(m_access.begin(), m_access.end(), Access{});
    std::fill(m_shared.begin(), m_shared.end(), std::byte{0xa5});
    std::fill(m_warps.begin(), m_warps.end(), Warp{});
    for (unsigned id = 0; id < m_threads.size(); ++id) {
        Thread& thread = m_threads[id];
        thread.id = id;
        thread.index = {id, 0, 0};
        thread.shared_used = 0;
        if (thread.waits != Meeting::end) { // the first block, or one after a violation
            thread.started = false;
            getcontext(&thread.start);
            thread.start.uc_stack.ss_sp = m_stacks.get() + id * stack_bytes;
            thread.start.uc_stack.ss_size = stack_bytes;
            thread.start.uc_link = nullptr;
            makecontext(&thread.start, &BlockRunner::enter, 0);
        }
        thread.waits = Meeting::none;
    }
    BlockRunner* const outer = running;
    running = this;
    bool moved = true;
    while (moved && m_violation.empty()) {
        moved = false;
        if (m_seed > 1) {
            std::shuffle(m_order.begin(), m_order.end(), m_random);
        }
        for (const unsigned id : m_order) {
            if (m_threads[id].waits == Meeting::none && m_violation.empty()) {
                resume(m_threads[id]);
                moved = true;
            }
        }
    }
    running = outer;
    if (!m_violation.empty()) {
        throw Violation(m_violation);
    }
    for (const Thread& thread : m_threads) {
        if (thread.waits != Meeting::end) {
            throw Violation("threads that never meet: " + waiting());
        }
    }
    if (BankCounter* const counter = BankCounter::current()) {
        counter->end_pass();
    }
}

inline void BlockRunner::count(std::size_t offset, std::size_t bytes) const {
    if (BankCounter* const counter = BankCounter::current()) {
        counter->note(m_current->id, bytes, offset);
    }
}

inline void BlockRunner::meet_block() {
    if (++m_at_barrier == m_threads.size()) {
        m_at_barrier = 0;
        ++m_block_epoch;
        if (BankCounter* const counter = BankCounter::current()) {
            counter->end_pass();
        }
        for (Thread& thread : m_threads) {
            thread.waits = Meeting::none;
        }
        return;
    }
    wait(Meeting::block);
}

inline const std::uint64_t* BlockRunner::meet_warp(const char* operation, unsigned mask, std::uint64_t value,
                                                   bool orders_memory) {
    if (mask != 0xffffffffu) {
        fail(std::string(operation) + " of a part of a warp");
    }
    Warp& warp = m_warps[warp_of(m_current->id)];
    if (warp.arrived > 0 && std::string_view(warp.operation) != operation) {
        fail(std::string("lanes of a warp meet in ") + warp.operation + " and in " + operation);
    }
    warp.operation = operation;
    warp.values[m_current->id % lanes] = value;
    if (++warp.arrived == lanes) {
        warp.arrived = 0;
        warp.epoch += orders_memory;
        std::copy_n(warp.values, lanes, warp.results);
        const unsigned first = m_current->id / lanes * lanes;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            m_threads[first + lane].waits = Meeting::none;
        }
    } else {
        wait(Meeting::warp);
    }
    return warp.results;
}

inline void BlockRunner::note_write(std::size_t offset, std::size_t bytes) {
    count(offset, bytes);
    Access& seen = m_access[offset];
    const unsigned me = m_current->id;
    const std::uint64_t warp_epoch = m_warps[warp_of(me)].epoch;
    if (seen.written && seen.writer != me && same_epoch(seen.writer_block_epoch) &&
        (warp_of(seen.writer) != warp_of(me) || seen.writer_warp_epoch == warp_epoch)) {
        fail("threads write the same shared element without a barrier between, the other one is thread " +
             std::to_string(seen.writer));
    }
    if (seen.read && same_epoch(seen.reader_block_epoch)) {
        const bool other = seen.many_readers || seen.reader != me;
        if (seen.many_warps ||
            (other && (warp_of(seen.reader) != warp_of(me) || seen.reader_warp_epoch == warp_epoch))) {
            fail(
                "a shared element is read and then written without a barrier between, the reader is thread " +
                std::to_string(seen.reader));
        }
    }
    seen.written = true;
    seen.writer = me;
    seen.writer_block_epoch = m_block_epoch;
    seen.writer_warp_epoch = warp_epoch;
}

inline void BlockRunner::note_read(std::size_t offset, std::size_t bytes) {
    count(offset, bytes);
    Access& seen = m_access[offset];
    const unsigned me = m_current->id;
    const std::uint64_t warp_epoch = m_warps[warp_of(me)].epoch;
    if (!seen.written) {
        fail("shared memory is read before it is written, at byte " + std::to_string(offset));
    }
    if (seen.writer != me && same_epoch(seen.writer_block_epoch) &&
        (warp_of(seen.writer) != warp_of(me) || seen.writer_warp_epoch == warp_epoch)) {
        fail("a shared element is written and then read without a barrier between, the writer is thread " +
             std::to_string(seen.writer));
    }
    if (!seen.read || !same_epoch(seen.reader_block_epoch)) {
        seen.read = true;
        seen.reader = me;
        seen.reader_block_epoch = m_block_epoch;
        seen.many_readers = seen.many_warps = false;
    }
    seen.many_readers = seen.many_readers || seen.reader != me;
    seen.many_warps = seen.many_warps || warp_of(seen.reader) != warp_of(me);
    seen.reader_warp_epoch = warp_epoch;
}

} // namespace spng::emulation
