// SPDX-License-Identifier: Apache-2.0
#pragma once
// RawFrame to SignalFrame by a warm Pipeline: the part of the phlex module that knows nothing of phlex.

#include "frame_products.h"

#include <cstddef>
#include <string>
#include <utility>

namespace spng {

/// Treatment of frames that the chain rejects. Other failures, such as the loss of a device, always throw.
enum class Rejected {
    stop, ///< process() throws
    keep  ///< process() returns a frame whose member `error` has the error block
};

/// Thread-safe: process() may be called by any count of threads at the same time.
class FrameProcessor {
public:
    /// @throws Error as the constructor of Pipeline; Error(Configuration) for the engine TbbFlow
    explicit FrameProcessor(const PipelineOptions& options, Rejected rejected = Rejected::stop)
        : m_pipeline(options), m_rejected(rejected) {
        reject_shared_threads();
    }

    /// Process one frame. Block until its result is there.
    /// @param where  position of the frame in the job, which begins the line `where` of an error
    /// @throws Error as Pipeline::process()
    SignalFrame process(const RawFrame& frame, const std::string& where) {
        try {
            return SignalFrame(m_pipeline.process(frame));
        } catch (Error& error) {
            error.add_where(where);
            if (m_rejected == Rejected::stop || error.kind() != ErrorKind::Input) {
                throw;
            }
            SignalFrame empty;
            empty.ident = frame.ident;
            empty.error = error.what();
            return empty;
        }
    }

    /// Calls of process() that keep the devices busy: one frame in work for each device, and one that waits.
    /// Further calls only hold threads of their caller.
    std::size_t useful_calls() const { return m_pipeline.devices().size() + 1; }

    const Pipeline& pipeline() const { return m_pipeline; }

private:
    /// TbbFlow works on the threads of oneTBB. They may all be waiting in process(), which then never returns.
    void reject_shared_threads() const {
        // The report names the engine, also that of another configuration.
        if (m_pipeline.timing_json().find("\"engine\":\"TbbFlow\"") == std::string::npos) {
            return;
        }
        ErrorText text;
        text.what = "the engine TbbFlow needs threads of oneTBB, which may all be waiting for it";
        text.where = "FrameProcessor";
        text.seen = "engine=TbbFlow";
        text.expected = "engine=Pgrapher";
        text.hint = "leave the argument engine out";
        throw Error(ErrorKind::Configuration, text);
    }

    Pipeline m_pipeline;
    Rejected m_rejected;
};

} // namespace spng
