// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/chain_model.h"

#include "spng/device/memory/out_of_memory.h"
#include "spng/pipeline/output_frame.h"
#include "spng/serve/frame_tensors.h"

#include <optional>
#include <utility>

namespace spng {
namespace {

kserve::InferResponse respond(const kserve::InferRequest& request, const WantedOutputs& wanted,
                              const EventResult& result) {
    const TensorSet& set = *result.sets.begin()->second;
    std::optional<OutputFrame> dense, sparse;
    if (wanted.dense) {
        dense = output_frame(set, OutputForm::dense);
    }
    if (wanted.sparse) {
        sparse = output_frame(set, OutputForm::sparse);
    }
    return response_of(request, wanted, dense ? &*dense : nullptr, sparse ? &*sparse : nullptr);
}

} // namespace

kserve::Failure failure_of(const Error& error) {
    const kserve::Status status = error.kind() == ErrorKind::Input   ? kserve::Status::invalid
                                  : error.kind() == ErrorKind::Usage ? kserve::Status::unavailable
                                                                     : kserve::Status::failed;
    return {status, error.what()};
}

ChainModel::ChainModel(std::string name, FrameJob& frames)
    : m_frames(frames),
      m_description(describe_chain(name, static_cast<std::int64_t>(frames.expected().channels.size()),
                                   frames.tags())) {}

void ChainModel::infer(std::shared_ptr<const kserve::InferRequest> request,
                       std::shared_ptr<const std::atomic<bool>>, Done done) {
    WantedOutputs wanted = wanted_outputs(*request, m_frames.tags());
    QueuedEvent event = event_of(input_frame(*request), m_frames.expected());
    const bool is_queued =
        m_frames.job().try_submit(std::move(event), [request, wanted = std::move(wanted),
                                                     done](EventResult result, std::exception_ptr error) {
            ModelResult answer{kserve::Failure{}, result.waited_seconds, result.run_seconds};
            try {
                if (error) {
                    std::rethrow_exception(error);
                }
                answer.response = respond(*request, wanted, result);
            } catch (...) {
                answer.response = failure_of(current_error());
            }
            done(std::move(answer));
        });
    if (!is_queued) {
        const Error full(ErrorKind::Device,
                         {.what = "the queue of the server is full",
                          .where = "request to model " + request->model,
                          .seen = std::to_string(m_frames.job().queue().size()) + " frames wait",
                          .expected = "a free slot",
                          .hint = "send it again later; wire-cell --serve-queue N makes room for "
                                  "more"});
        done({kserve::Failure{kserve::Status::overloaded, full.what()}});
    }
}

} // namespace spng
