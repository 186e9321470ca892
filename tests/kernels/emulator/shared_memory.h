// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared memory that checks every access, with the class names of spng/kernels/device.cuh.

#include "tests/kernels/emulator/block.h"

#include <cstring>

namespace spng::kernels {

template <class T>
class SharedArray {
public:
    SharedArray(std::size_t offset, long long count) : m_offset(offset), m_count(count) {}

    /// Result of []: checks reads and writes.
    class Element {
    public:
        explicit Element(std::size_t offset) : m_offset(offset) {}
        operator T() const {
            emulation::running->note_read(m_offset, sizeof(T));
            T value;
            std::memcpy(&value, emulation::running->shared(m_offset), sizeof value);
            return value;
        }
        Element& operator=(T value) {
            emulation::running->note_write(m_offset, sizeof(T));
            std::memcpy(emulation::running->shared(m_offset), &value, sizeof value);
            return *this;
        }
        Element& operator=(const Element& other) { return *this = static_cast<T>(other); }
        Element& operator|=(T value) { return *this = static_cast<T>(static_cast<T>(*this) | value); }
        Element& operator+=(T value) { return *this = static_cast<T>(static_cast<T>(*this) + value); }

    private:
        std::size_t m_offset;
    };

    Element operator[](long long index) const {
        if (index < 0 || index >= m_count) {
            emulation::running->fail("element " + std::to_string(index) + " of a shared array of " +
                                     std::to_string(m_count));
        }
        return Element(m_offset + static_cast<std::size_t>(index) * sizeof(T));
    }

    SharedArray part(long long first, long long count) const {
        if (first < 0 || count < 0 || first + count > m_count) {
            emulation::running->fail("a part up to element " + std::to_string(first + count) +
                                     " of a shared array of " + std::to_string(m_count));
        }
        return SharedArray(m_offset + static_cast<std::size_t>(first) * sizeof(T), count);
    }

private:
    std::size_t m_offset;
    long long m_count;
};

class SharedMemory {
public:
    template <class T>
    SharedArray<T> take(long long count) {
        auto& block = *emulation::running;
        std::size_t& used = block.thread().shared_used;
        const std::size_t offset = used;
        used += (static_cast<std::size_t>(count) * sizeof(T) + 7) / 8 * 8;
        if (used > block.shared_bytes()) {
            block.fail("shared memory of " + std::to_string(block.shared_bytes()) + " bytes, " +
                       std::to_string(used) + " taken");
        }
        return SharedArray<T>(offset, count);
    }
};

template <class T>
class RowView {
public:
    explicit RowView(const SharedArray<T>& staged) : m_staged(staged), m_row(nullptr) {}
    explicit RowView(const T* row) : m_staged(0, 0), m_row(row) {}
    T operator[](long long index) const { return m_row ? m_row[index] : static_cast<T>(m_staged[index]); }

private:
    SharedArray<T> m_staged;
    const T* m_row;
};

} // namespace spng::kernels
