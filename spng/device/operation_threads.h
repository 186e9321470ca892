// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng {

/// Sets the number of threads inside one operation (LibTorch's intra-op threads) for operations of the calling thread, during
/// its life. Other threads, those of a host program above all, keep theirs.
class OperationThreads {
public:
    explicit OperationThreads(int threads);
    ~OperationThreads();
    OperationThreads(const OperationThreads&) = delete;
    OperationThreads& operator=(const OperationThreads&) = delete;

private:
    int m_before;
};

} // namespace spng
