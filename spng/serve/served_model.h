// SPDX-License-Identifier: Apache-2.0
#pragma once
// A model that a server offers.

#include "spng/core/error.h"
#include "spng/kserve/protocol.h"

#include <atomic>
#include <functional>
#include <memory>

namespace spng {

/// The result of a request and its times [s]; negative: not measured.
struct ModelResult {
    kserve::Result<kserve::InferResponse> response;
    double waited_seconds = -1;
    double run_seconds = -1;
};

class ServedModel {
public:
    /// Called once, on any thread; must not throw.
    using Done = std::function<void(ModelResult result)>;

    virtual ~ServedModel() = default;
    virtual const kserve::ModelDescription& description() const = 0;
    /// Queue a request and return. Thread-safe.
    /// @param is_answered  true as soon as the client has a response, such as a timeout: a result is of no
    ///                     use
    /// @throws Error for a request that can be rejected at once
    virtual void infer(std::shared_ptr<const kserve::InferRequest> request,
                       std::shared_ptr<const std::atomic<bool>> is_answered, Done done) = 0;
};

/// Return the failure with the block of an error: the client gets the text that wire-cell prints.
kserve::Failure failure_of(const Error& error);

} // namespace spng
