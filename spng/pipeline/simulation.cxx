// SPDX-License-Identifier: Apache-2.0
#include "spng/pipeline/simulation.h"

#include "spng/core/log/log.h"
#include "spng/nodes/sim/depos/depo_file_source.h"
#include "spng/pipeline/job_owner.h"
#include "spng/pipeline/output_frame.h"
#include "spng/pipeline/warm_job.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace spng {
namespace {

using Kind = JsonnetBinding::Kind;

constexpr std::size_t queue_size = 2;

JobRequest request_of(const SimulationOptions& options) {
    const std::string memory = "(import 'memory.jsonnet')";
    JobRequest request{"cfg/simulate.jsonnet",
                       {{Kind::argument_code, "depos", memory + ".MemorySource()"},
                        {Kind::argument_code, "output", memory + ".MemorySink('adc')"},
                        {Kind::argument_code, "truth", memory + ".MemorySink('truth')"},
                        {Kind::argument_text, "detname", options.detector},
                        {Kind::argument_text, "tpcid", std::to_string(options.anode)}},
                       {}};
    for (const auto& [name, value] : options.arguments) {
        request.bindings.push_back({Kind::argument_text, name, value});
    }
    return request;
}

QueuedEvent event_of(const double* depositions, std::int64_t count, int ident) {
    if (count < 0 || (depositions == nullptr && count > 0)) {
        throw Error(ErrorKind::Input, {.what = "there are no depositions",
                                       .seen = std::to_string(count) + " at a null pointer",
                                       .expected = "(7, count): t, q, x, y, z, sigma_L, sigma_T"});
    }
    DepoEvent event;
    event.ident = ident;
    event.depositions = no_depositions();
    if (count > 0) {
        event.depositions.data =
            at::from_blob(const_cast<double*>(depositions), {depo_row::count, count}, at::kDouble).clone();
        event.depositions.info = at::zeros({depo_info_row::count, count}, at::kInt);
        event.depositions.info[depo_info_row::id].copy_(at::arange(count, at::kInt));
    }
    const TensorSetPtr set = set_from(event, 0, "simulation");
    return {std::make_shared<EventInfo>(set->event()), set->tensors()};
}

/// Join the frames of both sinks.
OutputFrame joined_frame(const EventResult& result) {
    OutputFrame frame = output_frame(*result.sets.at("adc"), OutputForm::dense);
    frame.traces.front().tag = "adc";
    OutputFrame truth = output_frame(*result.sets.at("truth"), OutputForm::dense);
    for (OutputTraces& traces : truth.traces) {
        frame.traces.push_back(std::move(traces));
    }
    return frame;
}

} // namespace

class Simulation::Impl {
public:
    explicit Impl(JobRequest request) : job("the simulation", std::move(request), queue_size) {}
    JobOwner<WarmJob> job;
};

Simulation::Simulation(const SimulationOptions& options) {
    log::silence_stderr();
    m_impl = std::make_unique<Impl>(request_of(options));
}

Simulation::~Simulation() = default;

OutputFrame Simulation::process(const double* depositions, std::int64_t count, int ident) {
    return m_impl->job.for_waiting().submit(event_of(depositions, count, ident), joined_frame).get();
}

} // namespace spng
