// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/pipeline/frame_job.h"
#include "spng/serve/served_model.h"

#include <string>

namespace spng {

/// The chain: a frame in, the tags of the job out. Requests wait in the queue of the job; a full queue
/// rejects them. A request that is answered while it waits is still processed.
class ChainModel final : public ServedModel {
public:
    /// @param frames  must live until all requests are done
    ChainModel(std::string name, FrameJob& frames);
    const kserve::ModelDescription& description() const override { return m_description; }
    void infer(std::shared_ptr<const kserve::InferRequest> request,
               std::shared_ptr<const std::atomic<bool>> is_answered, Done done) override;

private:
    FrameJob& m_frames;
    kserve::ModelDescription m_description;
};

} // namespace spng
